//! Lists of CPUs as the kernel writes them: "0-3,8".

/// More than any kernel is built for; a longer list is not one.
const MOST: usize = 1 << 16;

/// The numbers of a list; `None` if it is not one.
pub(crate) fn parse(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u32, u32) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        if to < from || all.len() + (to - from) as usize >= MOST {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

/// The CPUs that /proc/self/status allows.
pub(crate) fn allowed(status: &str) -> Option<Vec<u32>> {
    status.lines().find_map(|line| parse(line.strip_prefix("Cpus_allowed_list:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_numbers() {
        assert_eq!(parse("0"), Some(vec![0]));
        assert_eq!(parse("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        for wrong in ["", "3-1", "a", "1,", "0-4294967295"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(allowed("Name:\tx\nCpus_allowed:\t2\nCpus_allowed_list:\t1\n"), Some(vec![1]));
    }
}
