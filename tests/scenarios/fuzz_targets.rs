//! The fuzz targets on their seeds and some thousand mutations of them, so that no change of an interface breaks a
//! target unnoticed. `fuzz/run` runs them with libFuzzer.

use std::{fs, path::Path};

use rand::{Rng, SeedableRng, rngs::SmallRng, seq::IndexedRandom};

/// Maximum length of a mutated input.
const LONGEST: usize = 2_000;

/// Runs a target on its seeds, and on `mutations` changed ones.
fn feed(target: &str, mutations: usize, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no seeds", folder.display());
    let seeds: Vec<_> = files.iter().map(|path| fs::read(path).expect("a readable seed")).collect();
    seeds.iter().for_each(|seed| run(seed));
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..mutations {
        let mut bytes = seeds.choose(&mut rng).expect("a seed").clone();
        bytes.truncate(LONGEST);
        for _ in 0..rng.random_range(1..6) {
            let at = rng.random_range(0..=bytes.len());
            match (rng.random_range(0..4), bytes.get_mut(at)) {
                (0, Some(byte)) => *byte = rng.random(),
                (1, Some(byte)) => *byte ^= 1 << rng.random_range(0..8),
                (2, _) => bytes.truncate(at),
                _ => bytes.insert(at, rng.random()),
            }
        }
        run(&bytes);
    }
}

macro_rules! targets {
    ($($target:ident: $path:literal, $mutations:literal;)*) => {
        $(
            #[path = $path]
            #[expect(unused_attributes, reason = "it is a program of its own")]
            mod $target;
        )*

        mod target {
            $(
                #[test]
                fn $target() {
                    super::feed(stringify!($target), $mutations, super::$target::run);
                }
            )*
        }

        /// Every target of the folder is among these.
        #[test]
        fn no_target_is_missing() {
            let known = [$(stringify!($target)),*];
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
            for entry in fs::read_dir(folder).expect("the folder of the targets") {
                let path = entry.expect("a readable folder").path();
                let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
                assert!(known.contains(&name), "{name} is missing in this file");
            }
        }
    };
}

targets! {
    component_change: "../../fuzz/fuzz_targets/component_change.rs", 100;
    control_messages: "../../fuzz/fuzz_targets/control_messages.rs", 4_000;
    datagram: "../../fuzz/fuzz_targets/datagram.rs", 4_000;
    effects: "../../fuzz/fuzz_targets/effects.rs", 4_000;
    evidence: "../../fuzz/fuzz_targets/evidence.rs", 4_000;
    game_message: "../../fuzz/fuzz_targets/game_message.rs", 100;
    move_ack: "../../fuzz/fuzz_targets/move_ack.rs", 4_000;
    move_packet: "../../fuzz/fuzz_targets/move_packet.rs", 4_000;
    op_script: "../../fuzz/fuzz_targets/op_script.rs", 4;
    other_models: "../../fuzz/fuzz_targets/other_models.rs", 4_000;
    packet_filter: "../../fuzz/fuzz_targets/packet_filter.rs", 1_000;
    proxy_update: "../../fuzz/fuzz_targets/proxy_update.rs", 1_000;
    record: "../../fuzz/fuzz_targets/record.rs", 200;
    server_mailbox: "../../fuzz/fuzz_targets/server_mailbox.rs", 20;
    snapshot_message: "../../fuzz/fuzz_targets/snapshot_message.rs", 1_000;
    token: "../../fuzz/fuzz_targets/token.rs", 200;
}

/// Stands for libFuzzer's macro. It comes last so that the targets get it by their own import.
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:block) => {
        pub fn run($bytes: &[u8]) {
            $body
        }
    };
}
pub(crate) use fuzz_target;
