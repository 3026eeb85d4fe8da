//! One controlled pawn per link: a second one obeys the server.

use bevy::prelude::*;
use bevy_unlag_prediction::{IncomingMoves, return_to_server};
use lightyear::prelude::{ControlledBy, ControlledSend, ReplicationSystems};

use super::forget_link;
use crate::system_sets::SendSystems;

/// A pawn that has become a player's in this frame.
type Fresh = (With<IncomingMoves>, Or<(Changed<ControlledBy>, Added<IncomingMoves>)>);

pub(super) fn plugin(app: &mut App) {
    app.add_systems(
        PostUpdate,
        refuse_second_pawns.before(SendSystems::Snapshots).before(ReplicationSystems::Send),
    );
}

/// Returns all but the first pawn of a link to the server, before a client hears of them. It runs at the end
/// of the frame, so a game may spawn a player's next pawn before it despawns the last one.
fn refuse_second_pawns(
    fresh: Query<(Entity, &ControlledBy), Fresh>,
    pawns: Query<(Entity, &ControlledBy), With<IncomingMoves>>,
    mut commands: Commands,
) {
    let mut kept = Vec::new();
    for (pawn, by) in &fresh {
        let first = pawns.iter().find(|(other, of)| {
            *other != pawn && of.owner == by.owner && (!fresh.contains(*other) || kept.contains(other))
        });
        let Some((first, _)) = first else {
            kept.push(pawn);
            continue;
        };
        error!(
            "{pawn} is a second player_pawn of the link {}, whose player controls {first}: a player controls \
             one pawn at a time. The player owns {pawn}, and the server controls it. Spawn further pawns of a \
             player with NpcPawn and SessionOf instead, and change between them by Possess",
            by.owner
        );
        commands.entity(pawn).remove::<(ControlledBy, ControlledSend)>();
        commands.queue(move |world: &mut World| {
            return_to_server(world, Some(pawn));
            forget_link(world, pawn);
        });
    }
}
