//! The chains are defined by their bytes: a hash that changes here makes every stored log worthless.

use aurora_model::{Digest, Timestamp};

use super::*;

#[test]
fn the_hashes_of_a_known_record_never_change() {
    let one = hash(&BEGINNING, "run/a", 1, Timestamp { unix_ms: -1 }, "k", 1, "{\"a\":\"ä\"}");
    let linked = link(&BEGINNING, 1, &one);
    // The same by hand: every field with its length, in the order of the definition.
    let mut by_hand = Vec::new();
    let text = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend((text.len() as u64).to_be_bytes());
        bytes.extend(text.as_bytes());
    };
    text(&mut by_hand, "aurora.record.1");
    by_hand.extend([0; 32]);
    text(&mut by_hand, "run/a");
    by_hand.extend(1_u64.to_be_bytes());
    by_hand.extend([0xff; 8]);
    text(&mut by_hand, "k");
    by_hand.extend(1_u64.to_be_bytes());
    text(&mut by_hand, "{\"a\":\"ä\"}");
    assert_eq!(digest(&by_hand), Digest::of_bytes(one));
    let mut by_hand = Vec::new();
    text(&mut by_hand, "aurora.chain.1");
    by_hand.extend([0; 32]);
    by_hand.extend(1_u64.to_be_bytes());
    by_hand.extend(one);
    assert_eq!(digest(&by_hand), Digest::of_bytes(linked));
    assert_eq!(
        Digest::of_bytes(one).as_str(),
        "78db22d590697c437cdac7fcf24c8a586829d024dbd2ecb07115c134fe7aec5d"
    );
    assert_eq!(
        Digest::of_bytes(linked).as_str(),
        "5ff91f9f3a84db6b2f7ec82fa1c7eff5b06517b83b264e932c5b533f3a8263af"
    );
}

#[test]
fn fields_that_flow_into_each_other_have_different_hashes() {
    let at = Timestamp { unix_ms: 0 };
    let of =
        |stream: &str, kind: &str, payload: &str| hash(&BEGINNING, stream, 1, at, kind, 1, payload);
    assert_ne!(of("ab", "c", "1"), of("a", "bc", "1"));
    assert_ne!(of("a", "b1", "1"), of("a", "b", "11"));
}

#[test]
fn digests_and_bytes_are_the_same() {
    let hash: Hash = std::array::from_fn(|index| (index * 7) as u8);
    assert_eq!(bytes(&Digest::of_bytes(hash)), Some(hash));
    let unsound: Digest = serde_json::from_str("\"xyz\"").unwrap();
    assert_eq!(bytes(&unsound), None);
}
