//! Errors that a job ignored (`continue_on_error`, `ignore_error`), as fio counts and reports them: all errors of the kinds that the
//! job names, including one that ends the job because its number is not listed.

use super::super::plan::Job;
use fathom_record::{Ending, OpError, Worker};

/// EILSEQ: fio's error number for failed verification.
const WRONG_DATA: i32 = 84;

/// Errors of a report entry.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    /// Number of errors.
    pub total: u64,
    /// Error number of the first; 0 if none.
    pub first: i32,
    /// The first ignored error.
    pub passed: Option<OpError>,
}

impl Errors {
    /// Adds the errors of a worker.
    pub fn add(&mut self, job: &Job, worker: &Worker) {
        if let Some(passed) = &worker.passed {
            self.count(passed.errors, number(&passed.first));
            self.passed.get_or_insert_with(|| passed.first.clone());
        }
        if let Ending::Failed(error) = &worker.ending
            && job.errors.count(error)
        {
            self.count(1, number(error));
        }
    }

    fn count(&mut self, errors: u64, number: i32) {
        self.total += errors;
        if self.first == 0 {
            self.first = number;
        }
    }

    /// Count and first number; `None` for a job that counts no errors.
    #[must_use]
    pub fn reported(&self, job: &Job) -> Option<(u64, i32)> {
        job.errors.any().then_some((self.total, self.first))
    }
}

/// The number of an error, as fio reports it.
#[must_use]
pub fn number(error: &OpError) -> i32 {
    if error.errno == 0 { WRONG_DATA } else { error.errno }
}

/// The C library's message for an error number.
#[must_use]
pub fn words(number: i32) -> String {
    let text = std::io::Error::from_raw_os_error(number).to_string();
    // The standard library appends the number.
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_in_the_c_library() {
        assert_eq!(words(0), "Success");
        assert_eq!(words(28), "No space left on device");
        assert_eq!(words(84), "Invalid or incomplete multibyte or wide character");
        assert_eq!(number(&OpError::default()), 84);
        assert_eq!(number(&OpError { errno: 5, ..OpError::default() }), 5);
    }
}
