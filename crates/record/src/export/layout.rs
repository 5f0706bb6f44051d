//! Layout of the JSON: indented as usual, but an array inside an array stays on one line. Those are the buckets of histograms,
//! [304, 1], which would otherwise take four lines each and most of the file.

use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{Result, Write};

/// A formatter for serde_json.
#[derive(Default)]
pub(super) struct Layout {
    pretty: PrettyFormatter<'static>,
    /// The enclosing containers: whether each is an array.
    arrays: Vec<bool>,
    /// How many of them are written on one line.
    flat: usize,
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        let inside_array = self.arrays.last() == Some(&true);
        self.arrays.push(true);
        if self.flat > 0 || inside_array {
            self.flat += 1;
            return out.write_all(b"[");
        }
        self.pretty.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.arrays.pop();
        if self.flat > 0 {
            self.flat -= 1;
            return out.write_all(b"]");
        }
        self.pretty.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        match (self.flat > 0, first) {
            (true, true) => Ok(()),
            (true, false) => out.write_all(b", "),
            (false, _) => self.pretty.begin_array_value(out, first),
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        if self.flat > 0 { Ok(()) } else { self.pretty.end_array_value(out) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.arrays.push(false);
        if self.flat > 0 {
            self.flat += 1;
            return out.write_all(b"{");
        }
        self.pretty.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.arrays.pop();
        if self.flat > 0 {
            self.flat -= 1;
            return out.write_all(b"}");
        }
        self.pretty.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        match (self.flat > 0, first) {
            (true, true) => Ok(()),
            (true, false) => out.write_all(b", "),
            (false, _) => self.pretty.begin_object_key(out, first),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        if self.flat > 0 { Ok(()) } else { self.pretty.end_object_value(out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    fn laid_out(value: &Value) -> String {
        let mut bytes = Vec::new();
        value
            .serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Layout::default()))
            .expect("memory");
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn arrays_in_arrays_stay_on_one_line() {
        let value = json!({"a": [[1, 2], [], [{"b": [3], "c": {}}]], "d": [], "e": {"f": [4]}});
        let wanted = "{\n  \"a\": [\n    [1, 2],\n    [],\n    [{\"b\": [3], \"c\": {}}]\n  ],\n  \"d\": [],\n  \"e\": {\n    \"f\": [\n      4\n    ]\n  }\n}";
        assert_eq!(laid_out(&value), wanted);
        assert_eq!(serde_json::from_str::<Value>(&laid_out(&value)).expect("JSON"), value);
    }

    #[test]
    fn without_nested_arrays_it_is_the_usual_layout() {
        let value = json!({"a": [1, {"b": [], "c": {}}], "d": null});
        assert_eq!(laid_out(&value), serde_json::to_string_pretty(&value).expect("memory"));
    }
}
