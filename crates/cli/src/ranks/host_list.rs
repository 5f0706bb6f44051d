//! `--hosts`: the hosts a run is meant for, as elbencho takes them. A launcher has already put the ranks on hosts, so the list is
//! compared with where they are, and no service is contacted.

use super::client_file::same_host;

/// Maximum number of hosts in one list: a range of more is a slip.
const MOST: usize = 1 << 20;

/// The hosts of an option: a file with one on each line, or a list with commas, blanks and ranges such as `node[01-16]`.
pub(super) fn read(option: &str) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    if std::path::Path::new(option).is_file() {
        let text = crate::input::read_to_string(option).map_err(|e| format!("--hosts {option}: {e}"))?;
        for line in text.lines() {
            let hosts_of_line = line.split('#').next().unwrap_or_default();
            add(hosts_of_line, &mut hosts).map_err(|why| format!("--hosts {option}: {why}"))?;
        }
    } else {
        add(option, &mut hosts).map_err(|why| format!("--hosts: {why}"))?;
    }
    if hosts.is_empty() {
        return Err(format!(
            "--hosts {option}: there is no host in it; give a file, or a list such as a,b or node[01-16]"
        ));
    }
    Ok(hosts)
}

/// Adds the hosts of one line. Commas in brackets belong to a range.
fn add(line: &str, hosts: &mut Vec<String>) -> Result<(), String> {
    let mut inside = false;
    let separates = |c: char| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        !inside && (c == ',' || c.is_whitespace())
    };
    for word in line.split(separates).filter(|w| !w.is_empty()) {
        // A port belongs to elbencho's service.
        let name = match word.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => name,
            _ => word,
        };
        spread(name, hosts)?;
    }
    Ok(())
}

/// `node[1-3,7]` is four hosts; leading zeros are kept.
fn spread(name: &str, hosts: &mut Vec<String>) -> Result<(), String> {
    if hosts.len() >= MOST {
        return Err(format!("more than {MOST} hosts"));
    }
    let Some((before, rest)) = name.split_once('[') else {
        hosts.push(name.into());
        return Ok(());
    };
    let wrong = || format!("\"{name}\": expected numbers and ranges in the brackets, such as node[01-16,20]");
    let (ranges, after) = rest.split_once(']').ok_or_else(wrong)?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |n: &str| n.trim().parse::<u32>().map_err(|_| wrong());
        let (from, to) = (number(first)?, number(last)?);
        if from > to || (to - from) as usize >= MOST {
            return Err(wrong());
        }
        let width = first.trim().len();
        for n in from..=to {
            spread(&format!("{before}{n:0width$}{after}"), hosts)?;
        }
    }
    Ok(())
}

/// Compares the list with the hosts that the ranks are on.
pub(super) fn check(listed: &[String], ranks_on: &[(&str, u32)]) -> Result<(), String> {
    let is_listed = |host: &str| listed.iter().any(|l| same_host(l, host));
    let without: Vec<&str> = listed
        .iter()
        .map(String::as_str)
        .filter(|l| !ranks_on.iter().any(|(h, _)| same_host(l, h)))
        .collect();
    let unlisted: Vec<String> = ranks_on
        .iter()
        .filter(|(host, _)| !is_listed(host))
        .map(|(host, ranks)| format!("{host} ({})", crate::console::counted(u64::from(*ranks), "rank")))
        .collect();
    let few = |names: Vec<String>| match names.len() {
        0..=8 => names.join(", "),
        more => format!("{} and {} more", names[..8].join(", "), more - 8),
    };
    let mut wrong = Vec::new();
    if !without.is_empty() {
        wrong.push(format!("no rank is on {}", few(without.iter().map(ToString::to_string).collect())));
    }
    if !unlisted.is_empty() {
        wrong.push(format!("ranks are on {}, not listed", few(unlisted)));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!(
        "--hosts does not name the hosts that the launcher used: {}. Give mpirun or srun the same hosts, or leave the option out",
        wrong.join("; ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_files_name_the_same_hosts() {
        let expected = ["a", "node08", "node09", "node10", "node12", "b.site", "10.0.0.3"];
        let option = "a,node[08-10,12] b.site:1611\n10.0.0.[3]:1612";
        assert_eq!(read(option).unwrap(), expected);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("# hosts\n{}\n", option.replace(' ', "\n"))).unwrap();
        assert_eq!(read(&file.path().display().to_string()).unwrap(), expected);
        assert_eq!(read("fe80::1").unwrap(), ["fe80::1"], "no port");
        for wrong in ["", ",", "n[3-1]", "n[1-", "n[x]", "n[0-4000000000]"] {
            assert!(read(wrong).unwrap_err().starts_with("--hosts"), "{wrong}");
        }
    }

    #[test]
    fn hosts_of_the_list_and_of_the_ranks_must_be_the_same() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let ranks = [("a.site", 2), ("b", 1)];
        assert_eq!(check(&list(&["b", "a"]), &ranks), Ok(()));
        let error = check(&list(&["a", "c"]), &ranks).unwrap_err();
        assert!(error.contains("no rank is on c") && error.contains("ranks are on b (1 rank)"), "{error}");
    }
}
