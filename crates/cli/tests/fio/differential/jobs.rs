//! Jobs, drawn from the options that people use.

use fathom_workload::ops::{Place, derive_seed};

/// How often in a thousand one of an option's choices is given, and these.
fn options() -> impl Iterator<Item = (u64, Vec<&'static str>)> {
    let lines = include_str!("options.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let (often, words) = line.split_once(": ").expect("a number and choices");
        (often.parse().expect("a number"), words.split(" | ").collect())
    })
}

const DIRECTIONS: &[&str] =
    &["read", "write", "randread", "randwrite", "rw", "randrw", "randread", "randwrite", "read", "write"];
const SIZES: &[&str] = &["64k", "256k", "512k", "1m", "1m", "2m", "100k"];

/// Numbers of one job, one after the other.
struct Numbers {
    seed: u64,
    job: u64,
    drawn: u64,
}

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.drawn += 1;
        let place = Place { phase: self.job as u32, worker: (self.job >> 32) as u32, repetition: 0 };
        derive_seed(self.seed, place, self.drawn) % n
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// The line of a job.
pub fn job(seed: u64, number: u64) -> String {
    let mut numbers = Numbers { seed, job: number, drawn: 0 };
    let mut line = vec![
        "--name=a".to_owned(),
        format!("--rw={}", numbers.one_of(DIRECTIONS)),
        format!("--size={}", numbers.one_of(SIZES)),
    ];
    for (often, words) in options() {
        if numbers.below(1000) < often {
            line.push(numbers.one_of(&words).to_owned());
        }
    }
    if numbers.below(10) == 0 {
        line.push(format!("--name=b --rw={} --size=64k", numbers.one_of(&["read", "write", "randread"])));
        if numbers.below(2) == 0 {
            line.push(numbers.one_of(&["--stonewall", "--new_group"]).to_owned());
        }
    }
    line.join(" ")
}

#[test]
fn a_job_follows_from_its_number() {
    assert_eq!(job(1, 2), job(1, 2));
    assert!(job(1, 2) != job(1, 3) && job(1, 2) != job(2, 2));
}
