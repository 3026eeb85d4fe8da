//! The probe of the fuzz targets: what it injects reaches the game.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitWriter, Wire};

use super::{InjectedMessage, LinkProbe, message_key};
use crate::messages::{AddGameMessage, GameMessageStats, MessageRules, Received};

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct Up(u32);

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct Down(u32);

#[derive(Resource, Default)]
struct Numbers(Vec<u32>);

const UP: MessageRules = MessageRules::to_server().per_second(7.0);
const DOWN: MessageRules = MessageRules::to_everyone().unreliable();

fn game(app: &mut App) {
    app.init_resource::<Numbers>().add_game_message::<Up>(UP).add_game_message::<Down>(DOWN).add_systems(
        Update,
        |mut up: MessageReader<Received<Up>>,
         mut down: MessageReader<Received<Down>>,
         mut all: ResMut<Numbers>| {
            all.0.extend(up.read().map(|received| received.message.0));
            all.0.extend(down.read().map(|received| received.message.0));
        },
    );
}

/// A message about no pawn.
fn message(key: u16, content: &impl Wire) -> Vec<u8> {
    let mut w = BitWriter::default();
    w.bits(u32::from(key), 16);
    w.bool(false);
    content.write(&mut w);
    w.finish()
}

/// Fails if the key of a message type is not the one that apps know, whatever the type's rate: everything that the
/// fuzz target of game messages sends would be refused as unknown.
#[test]
fn injected_message_is_received_from_the_first_frame_of_a_link_on() {
    let up = message(message_key::<Up>(UP), &Up(3));
    let down = message(message_key::<Down>(DOWN), &Down(4));
    let sides = [
        (LinkProbe::server(game), InjectedMessage::Reliable, &up, &down, 3),
        (LinkProbe::client(game), InjectedMessage::Unreliable, &down, &up, 4),
    ];
    for (mut probe, lane, valid, wrong_way, number) in sides {
        for frame in 1..=3 {
            probe.put(lane, valid);
            probe.put(lane, wrong_way);
            probe.pass(Duration::from_millis(16));
            let world = probe.app.world();
            assert_eq!(world.resource::<Numbers>().0, vec![number; frame]);
            let stats = world.resource::<GameMessageStats>();
            assert_eq!((stats.received, stats.refused), (frame as u64, frame as u64));
        }
    }
}
