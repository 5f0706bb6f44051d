//! The decompressed bytes of a trace, with a look at their beginning.

use crate::trace::{NAME_THE_FORM, TraceError, TraceFormat, TracePlace};
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};

/// Bytes examined at the beginning.
const HEAD_BYTES: usize = 16 << 10;
const BUFFER_BYTES: usize = 64 << 10;

pub(super) struct TraceSource {
    file: String,
    head: Vec<u8>,
    /// Whether `head` is the whole input.
    whole: bool,
    rest: Box<dyn Read>,
    cut: bool,
}

impl TraceSource {
    pub(super) fn new(file: &str, mut input: Box<dyn Read>) -> Result<Self, TraceError> {
        let fail =
            |e: std::io::Error| TraceError::new(file, TracePlace::Whole, format!("it cannot be read: {e}"));
        let (magic, _) = fill(&mut input, 4).map_err(fail)?;
        let input = Cursor::new(magic.clone()).chain(input);
        let mut rest: Box<dyn Read> = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(input)),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::new(input).map_err(fail)?),
            _ => Box::new(input),
        };
        let (head, cut) = fill(&mut rest, HEAD_BYTES).map_err(fail)?;
        Ok(Self { file: file.into(), whole: head.len() < HEAD_BYTES, head, rest, cut })
    }

    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The complete lines in `head` as text.
    pub(super) fn head_text(&self) -> String {
        let end = match self.head.iter().rposition(|&b| b == b'\n') {
            Some(at) if !self.whole => at,
            _ => self.head.len(),
        };
        String::from_utf8_lossy(&self.head[..end]).into_owned()
    }

    /// File name and all bytes. A truncated compressed stream ends early: see [`is_cut`].
    pub(super) fn into_reader(self) -> (String, Box<dyn BufRead>) {
        let head = Cursor::new(self.head);
        // A truncated compressed stream has no more data, and would report the error again.
        let rest: Box<dyn Read> = if self.cut { Box::new(CutOff) } else { self.rest };
        (self.file, Box::new(BufReader::with_capacity(BUFFER_BYTES, head.chain(rest))))
    }

    /// The error for an unrecognised file.
    pub(super) fn unknown(&self, first: Option<&str>) -> TraceError {
        let forms: Vec<&str> = TraceFormat::ALL.iter().map(|f| f.word()).collect();
        let found = match first {
            None if self.head.is_empty() => "it is empty".into(),
            None => "it holds only blank lines".into(),
            Some(line) if line.chars().any(|c| c.is_control() && !c.is_whitespace()) => "it is binary".into(),
            Some(line) => {
                let shown: String =
                    line.chars().take(60).map(|c| if c.is_control() { '.' } else { c }).collect();
                format!("its first line is \"{shown}\"")
            }
        };
        let what = format!(
            "this is no block trace that fathom knows by its content: {found}. It reads {}{NAME_THE_FORM}",
            forms.join(", ")
        );
        TraceError::new(&self.file, TracePlace::Whole, what)
    }
}

/// Whether a read error means that compressed data was truncated.
pub(super) fn is_cut(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::UnexpectedEof
}

struct CutOff;

impl Read for CutOff {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(ErrorKind::UnexpectedEof.into())
    }
}

/// Reads up to `wanted` bytes. Also returns whether the compressed data was truncated.
fn fill(input: &mut dyn Read, wanted: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = vec![0; wanted];
    let mut have = 0;
    let mut cut = false;
    while have < wanted {
        match input.read(&mut bytes[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if is_cut(&e) && have > 0 => {
                cut = true;
                break;
            }
            Err(e) => return Err(e),
        }
    }
    bytes.truncate(have);
    Ok((bytes, cut))
}
