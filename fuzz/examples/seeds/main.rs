//! Generator of the fuzz targets' seeds, using the real encoders: `cargo run --example seeds`.

mod components;
mod moves;
mod packets;
mod recordings;
mod shots;
mod snapshots;
mod traffic;

use std::{fs, io, path::Path};

use bevy_unlag_core::{BitWriter, Wire};
use bevy_unlag_lightyear::fuzzing::example_messages;
use bevy_unlag_rewind::ShotEvidence;

#[allow(dead_code, reason = "the client uses more of it")]
#[path = "../../../crates/bevy_unlag_lightyear/src/snapshots/snapshot_message.rs"]
mod message;
#[allow(dead_code, reason = "the property tests use more of it")]
#[path = "../../../crates/bevy_unlag_prediction/tests/integration/properties/walker.rs"]
mod walker;

fn encoded(value: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    value.write(&mut w);
    w.finish()
}

fn numbered(name: &str, all: impl IntoIterator<Item = Vec<u8>>) -> Vec<(String, Vec<u8>)> {
    all.into_iter().enumerate().map(|(i, bytes)| (format!("{name}_{i}"), bytes)).collect()
}

fn owned(seeds: Vec<(&str, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    seeds.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

fn main() -> io::Result<()> {
    let (traffic, shots) = traffic::fight();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let messages = example_messages().into_iter().map(|(kind, message)| [&[kind][..], &message].concat());
    let targets = [
        ("move_packet", owned(moves::move_packets())),
        ("move_ack", owned(moves::move_acks())),
        ("proxy_update", owned(snapshots::proxy_updates())),
        ("snapshot_message", owned(snapshots::snapshot_messages())),
        ("effects", owned(shots::effects())),
        ("server_mailbox", owned(moves::mailboxes())),
        ("other_models", owned(moves::other_models())),
        ("op_script", owned(packets::scripts(&traffic))),
        ("packet_filter", packets::packet_scripts(&traffic.packets)),
        ("datagram", numbered("received", traffic.datagrams)),
        ("control_messages", numbered("message", messages)),
        ("game_message", owned(components::game_messages())),
        ("token", owned(packets::tokens())),
        ("component_change", owned(components::changes())),
        ("evidence", numbered("shot", shots.iter().map(ShotEvidence::to_bytes))),
        ("record", recordings::recordings()?),
    ];
    for (target, files) in targets {
        let folder = seeds.join(target);
        fs::create_dir_all(&folder)?;
        for (name, bytes) in files {
            fs::write(folder.join(&name), &bytes)?;
            println!("{target}/{name}: {} bytes", bytes.len());
        }
    }
    Ok(())
}
