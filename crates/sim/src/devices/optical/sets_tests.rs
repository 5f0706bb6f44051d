//! The shipped drives against their source figures: rates along the spiral, the first GiB, access times, and commands served from the
//! buffer.

use super::super::testing::{closed, open, read};
use super::super::{AnyDevice, SECTOR_BYTES, by_name};
use crate::devices::Device as _;

const GIB: f64 = (1u64 << 30) as f64;

fn drive(name: &str) -> AnyDevice {
    by_name(name).unwrap().build().unwrap()
}

/// MB/s of sequential reading from a position, in commands of 64 KiB.
fn rate_at(name: &str, byte: u64) -> f64 {
    let first = byte / SECTOR_BYTES;
    let commands: Vec<_> = (0..65).map(|n| read(n, first + u64::from(n) * 128, 128)).collect();
    let done = closed(&mut drive(name), &commands, 1);
    64.0 * 65_536.0 * 1e3 / (done[64] - done[0]) as f64
}

/// Time to read a sector `gib` GiB after the first one, ms, including the effects of read-ahead.
fn way_ms(name: &str, gib: f64) -> f64 {
    let mut drive = drive(name);
    let sector = ((gib * GIB / SECTOR_BYTES as f64) as u64).min(drive.capacity_sectors() - 4);
    let begun = 100_000_000_000;
    // By then the buffer is full and the head waits behind it.
    let done = open(&mut drive, &[(0, read(0, 0, 4)), (begun, read(1, sector - sector % 128, 4))]);
    (done[1] - begun) as f64 / 1e6
}

#[track_caller]
fn near(seen: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((seen / wanted - 1.0).abs() <= tolerance, "{what}: {seen}, not {wanted}");
}

#[test]
fn the_drive_of_2007_has_the_rates_its_tables_show() {
    let rates = [(0, 4.58), (1, 6.53), (2, 8.02), (3, 9.27)];
    for (gb, mb_s) in rates {
        near(rate_at("t60p", gb * 1_000_000_000), mb_s, 0.005, &format!("t60p at {gb} GB"));
    }
    near(rate_at("t60p", 4_690_000_000), 11.08, 0.005, "t60p at the rim");
    let commands: Vec<_> = (0..16_384).map(|n| read(n, u64::from(n) * 128, 128)).collect();
    let first_gib = *closed(&mut drive("t60p"), &commands, 1).last().unwrap();
    near(first_gib as f64 / 1e9, 191.1, 0.005, "dd of the first GiB, s");
}

#[test]
fn the_drive_of_2007_reaches_its_places_in_the_times_fitted() {
    let whole = 4.7e9 / GIB;
    // From full stroke to a thirty-third of a GiB, plus a few ms of reading to the end of the block.
    for (gib, ms) in [(whole, 223.0), (whole / 3.0, 151.0), (1.0, 134.5), (1.0 / 33.0, 67.6)] {
        near(way_ms("t60p", gib), ms, 0.03, &format!("t60p over {gib} GiB"));
    }
    // A buffer hit costs the command and the bus: 1515 reads of 2 KiB a second at 96 % busy.
    let at = 10_000_000_000;
    let done = open(&mut drive("t60p"), &[(0, read(0, 0, 64)), (at, read(1, 64, 4))]);
    near((done[1] - at) as f64 / 1e6, 0.642, 0.005, "2 KiB from the buffer, ms");
}

#[test]
fn the_other_drives_have_the_rates_of_their_names() {
    for (name, bytes, rim, inner) in [
        ("dvd-desktop-16x", 4.7e9, 16.0 * 1.385, 16.0 * 1.385 * 24.0 / 58.0),
        ("cd-52x", 681_984_000.0, 52.0 * 0.1536, 52.0 * 0.1536 * 24.0 / 58.0),
        ("cd-1x", 681_984_000.0, 0.1536, 0.1536),
        ("bd-6x", 25.025e9, 6.0 * 4.495, 6.0 * 4.495 * 24.0 / 58.0),
    ] {
        let last = drive(name).capacity_sectors() * SECTOR_BYTES - 65 * 65_536;
        assert!(
            (bytes - 1024.0..=bytes).contains(&(drive(name).capacity_sectors() as f64 * 512.0)),
            "{name}"
        );
        near(rate_at(name, last), rim, 0.01, &format!("{name} at the rim"));
        near(rate_at(name, 0), inner, 0.01, &format!("{name} inside"));
    }
}

#[test]
fn the_other_drives_reach_their_places_in_the_times_given() {
    // a + b times the square root of the distance, and for the first CD drive 10 ms per mm of radius.
    let (dvd, cd, bd) = (4.7e9 / GIB, 681_984_000.0 / GIB, 25.025e9 / GIB);
    for (name, gib, ms) in [
        ("dvd-desktop-16x", dvd, 35.0 + 55.0 * dvd.sqrt()),
        ("dvd-desktop-16x", 1.0, 90.0),
        ("cd-52x", cd, 100.0),
        ("cd-52x", cd / 3.0, 40.0 + 60.0 / 3f64.sqrt()),
        ("bd-6x", bd / 3.0, 40.0 + 50.0 * (bd / 3.0).sqrt()),
        ("cd-1x", cd, 150.0 + 150.0 * cd.sqrt() + 340.0),
    ] {
        near(way_ms(name, gib), ms, 0.05, &format!("{name} over {gib} GiB"));
    }
    // Inward seeks take as long: the disc must speed up.
    let mut drive = drive("cd-1x");
    let last = drive.capacity_sectors() - 128;
    let at = 100_000_000_000;
    let done = open(&mut drive, &[(0, read(0, last, 4)), (at, read(1, 0, 4))]);
    near((done[1] - at) as f64 / 1e6, 150.0 + 150.0 * cd.sqrt() + 340.0, 0.05, "cd-1x, back, ms");
}
