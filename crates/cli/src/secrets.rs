//! Command lines are kept with a run and shown on its page; what is said of passwords in them is not.

/// Parts of names of options whose value is nobody's affair.
const SECRET: [&str; 5] = ["password", "passwd", "secret", "token", "api-key"];
/// What stands in place of it.
const MASK: &str = "***";

/// The words with the values of such options hidden: `--mysql-password=x`, and `--mysql-password x`.
pub fn masked(words: &[String]) -> Vec<String> {
    let mut hide_next = false;
    let mask = |word: &String| {
        if std::mem::take(&mut hide_next) && !word.starts_with('-') {
            return MASK.to_string();
        }
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
        let name_is_secret = SECRET.iter().any(|part| name.to_ascii_lowercase().contains(part));
        match value {
            Some(_) if name_is_secret => format!("{name}={MASK}"),
            None if name_is_secret && name.starts_with("--") => {
                hide_next = true;
                word.clone()
            }
            _ => word.clone(),
        }
    };
    words.iter().map(mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_hidden_and_nothing_else() {
        let masked = |line: &str| masked(&line.split(' ').map(String::from).collect::<Vec<_>>()).join(" ");
        assert_eq!(
            masked("sysbench --mysql-password=X --threads=2 run"),
            "sysbench --mysql-password=*** --threads=2 run"
        );
        assert_eq!(masked("sysbench --pgsql-password X run"), "sysbench --pgsql-password *** run");
        assert_eq!(
            masked("fio --http_s3_SECRET=a=b --name=password"),
            "fio --http_s3_SECRET=*** --name=password"
        );
        assert_eq!(masked("iozone -f /passwords/x --secret -a"), "iozone -f /passwords/x --secret -a");
    }
}
