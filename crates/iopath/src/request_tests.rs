//! The slab of requests: slots and ids, the chain of bios, gathering.

use super::*;
use crate::limits::Limits;

const LIMITS: &Limits = &Limits::CCISS;

fn read(sector: u64) -> Bio {
    Bio::new(Op::Read, sector, 8).with_token(sector as u32)
}

fn tokens(requests: &Requests, slot: Slot) -> Vec<u32> {
    requests.bios(slot).map(Bio::token).collect()
}

#[test]
fn a_place_is_used_again_under_another_name() {
    let mut requests = Requests::new(1);
    let slot = requests.make(Nanos(5), read(0)).unwrap();
    let id = requests.id(slot);
    assert_eq!(requests.make(Nanos(5), read(8)), None);
    requests.finish(slot, |_| {});
    assert!(requests.get(id).is_none() && requests.is_empty());
    let again = requests.make(Nanos(6), read(8)).unwrap();
    assert_eq!(again, slot);
    assert!(requests.get(id).is_none());
    assert!(requests.get(requests.id(again)).is_some());
}

#[test]
fn bios_stay_in_the_order_of_their_sectors() {
    let mut requests = Requests::new(4);
    let kept = requests.make(Nanos(2), read(16)).unwrap();
    requests.append(kept, read(24), LIMITS);
    requests.prepend(kept, read(8), LIMITS);
    let gone = requests.make(Nanos(1), read(32)).unwrap();
    requests.join(kept, gone, LIMITS);
    assert_eq!(tokens(&requests, kept), [8, 16, 24, 32]);
    let request = &requests[kept];
    assert_eq!((request.sector(), request.sectors(), request.segments()), (8, 32, 4));
    assert_eq!((request.bios(), request.queued_at(), request.places()), (4, Nanos(1), 1));
    let mut seen = Vec::new();
    requests.finish(kept, |bio| seen.push(bio.token()));
    assert_eq!(seen, [8, 16, 24, 32]);
    assert_eq!(requests.len(), 0);
    // The four nodes are free again: no growth.
    let before = requests.nodes.len();
    let slot = requests.make(Nanos(3), read(0)).unwrap();
    requests.append(slot, read(8), LIMITS);
    assert_eq!(requests.nodes.len(), before);
}

#[test]
fn what_is_gathered_answers_for_both_places() {
    let mut requests = Requests::new(2);
    let kept = requests.make(Nanos(0), read(0)).unwrap();
    let gone = requests.make(Nanos(0), read(8)).unwrap();
    requests.gather(kept, gone, LIMITS);
    assert_eq!((requests[kept].places(), requests.iter().count()), (2, 1));
}
