//! Command lines are stored with a run and shown on its page; passwords in them are masked.

/// Parts of option names with secret values (fio has `http_pass` and `http_s3_key`).
const SECRET: [&str; 7] = ["password", "passwd", "_pass", "secret", "token", "api-key", "s3_key"];
const MASK: &str = "***";

/// The words with the values of such options masked: `--mysql-password=x`, and `--mysql-password x`.
pub fn masked(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    for (at, begin) in places(&words) {
        words[at].replace_range(begin.., MASK);
    }
    words
}

/// The text with such values masked, in case it quotes a command line.
pub fn masked_in(text: String, words: &[String]) -> String {
    let values = places(words).into_iter().map(|(at, begin)| words[at][begin..].to_string());
    values.filter(|value| !value.is_empty()).fold(text, |text, value| text.replace(&value, MASK))
}

/// Positions of such values: word index and byte offset.
fn places(words: &[String]) -> Vec<(usize, usize)> {
    let is_secret = |name: &str| SECRET.iter().any(|part| name.to_ascii_lowercase().contains(part));
    let mut places = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.split_once('=') {
            Some((name, _)) if is_secret(name) => places.push((at, name.len() + 1)),
            None if word.starts_with("--") && is_secret(word) && at + 1 < words.len() => {
                places.push((at + 1, 0))
            }
            _ => {}
        }
    }
    places
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
            masked("fio --http_s3_key=a=b --http_pass=x --name=password"),
            "fio --http_s3_key=*** --http_pass=*** --name=password"
        );
        assert_eq!(masked("iozone -f /passwords/x -a"), "iozone -f /passwords/x -a");
        let words = ["sysbench", "--mysql-password=my secret", "run"].map(String::from);
        assert_eq!(masked_in(words.join(" "), &words), "sysbench --mysql-password=*** run");
    }
}
