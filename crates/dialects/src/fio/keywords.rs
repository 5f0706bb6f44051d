//! Substitutions made in a line before it is parsed: `${VARIABLE}`, and `$pagesize`, `$mb_memory`, `$ncpus` with optional arithmetic.
//! fio calls bc(1) for that; here it is integer arithmetic.

use super::World;

/// Replaces `${NAME}` by the environment variable, or by nothing if it is unset.
#[must_use]
pub fn with_environment(line: &str, world: &World<'_>) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        out.push_str(&rest[..at]);
        out.push_str(&(world.variable)(&rest[at + 2..at + end]).unwrap_or_default());
        rest = &rest[at + end + 1..];
    }
    out + rest
}

/// Substitutes the machine's numbers in a value, and evaluates the expression if there were any.
///
/// # Errors
/// A message if the result is not a valid expression.
pub fn with_numbers(value: &str, world: &World<'_>) -> Result<String, String> {
    let known = [("$pagesize", world.page_bytes), ("$mb_memory", world.memory_mib), ("$ncpus", world.cpus)];
    if !known.iter().any(|(word, _)| value.contains(word)) {
        return Ok(value.into());
    }
    let mut text = value.to_owned();
    for (word, number) in known {
        text = text.replace(word, &number.to_string());
    }
    if !text.contains(['+', '-', '*', '/']) {
        return Ok(text);
    }
    let mut terms = Terms { text: &text, rest: text.trim_start(), depth: 0 };
    let result = terms.sum()?;
    // A suffix after the expression stays: `$ncpus*2k`.
    Ok(format!("{result}{}", terms.rest))
}

/// The unparsed rest of an expression.
struct Terms<'a> {
    text: &'a str,
    rest: &'a str,
    depth: u32,
}

impl Terms<'_> {
    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.one_of(&['+', '-']) {
            let next = self.product()?;
            let result = if sign == '+' { value.checked_add(next) } else { value.checked_sub(next) };
            value = result.ok_or_else(|| self.too_large())?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.atom()?;
        while let Some(sign) = self.one_of(&['*', '/']) {
            let next = self.atom()?;
            if sign == '/' && next == 0 {
                return Err(format!("{:?} divides by 0", self.text));
            }
            let result = if sign == '*' { value.checked_mul(next) } else { value.checked_div(next) };
            value = result.ok_or_else(|| self.too_large())?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<i128, String> {
        const DEEPEST: u32 = 32;
        if self.one_of(&['(']).is_some() {
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(format!("{:?} has more than {DEEPEST} brackets", self.text));
            }
            let value = self.sum()?;
            return match self.one_of(&[')']) {
                Some(_) => Ok(value),
                None => Err(format!("{:?} lacks a closing bracket", self.text)),
            };
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse();
        self.rest = self.rest[end..].trim_start();
        number.map_err(|_| format!("{:?} is not an expression of whole numbers with + - * /", self.text))
    }

    fn one_of(&mut self, signs: &[char]) -> Option<char> {
        let sign = self.rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = self.rest[1..].trim_start();
        Some(sign)
    }

    fn too_large(&self) -> String {
        format!("{:?} is too large", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::world;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn variables_are_replaced_and_unset_ones_are_empty() {
        let line = |text| with_environment(text, &world());
        assert_eq!(line("size=${SZ}"), "size=2m");
        assert_eq!(line("bs=${UNSET}4k ${SZ}"), "bs=4k 2m");
        assert_eq!(line("x=${open"), "x=${open");
    }

    #[test]
    fn expressions_are_computed() {
        let value = |text: &str| with_numbers(text, &world());
        assert_eq!(value("2*$ncpus"), Ok("8".into()));
        assert_eq!(value("$ncpus"), Ok("4".into()));
        assert_eq!(value("($mb_memory-24)/2k"), Ok("500k".into()));
        assert_eq!(value("2*3"), Ok("2*3".into()));
        assert_eq!(value("$pagesize+ 4"), Ok("4100".into()));
        assert!(value("$ncpus/0").is_err());
        assert!(value("$ncpus*").is_err());
        assert!(value(&format!("$ncpus*{}", "(".repeat(99))).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", tail in "[-+*/()0-9k ]*") {
            let _ = with_environment(&text, &world());
            let _ = with_numbers(&format!("$ncpus{tail}"), &world());
        }
    }
}
