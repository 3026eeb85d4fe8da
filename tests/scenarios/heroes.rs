//! Abilities of the shooter's players.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{core::StepEvent, movement::HasCapsule, prelude::*};
use unlag_examples::{
    app::ServerOptions,
    hero::{self, Hero, HeroState},
    stepped_match::MatchOptions,
};

use crate::{hold_still, link_150, own_id, seconds, start, stats};

/// Number of dashes and teleports of each pawn that an app has simulated.
#[derive(Resource, Default)]
struct Uses(HashMap<NetId, usize>);

fn count_uses(mut steps: MessageReader<StepEvent<Hero>>, ids: Query<&NetId>, mut uses: ResMut<Uses>) {
    for step in steps.read().filter(|step| Hero::is_outcome(&step.event)) {
        let id = ids.get(step.entity).expect("a pawn has an id");
        *uses.0.entry(*id).or_default() += 1;
    }
}

/// While it is there, the players use their abilities.
#[derive(Resource)]
struct Playing;

/// Dashes and teleports across the middle of the arena, one after the other.
fn use_abilities(
    tick: Res<CurrentTick>,
    playing: Option<Res<Playing>>,
    mut own: Query<(&mut MoveInput<Hero>, &HeroState), With<LocalControl>>,
) {
    let phase = tick.0.0 % 100;
    for (mut input, state) in &mut own {
        let yaw = if state.capsule().position.z > 0.0 { 0.0 } else { core::f64::consts::PI };
        input.0.body.body.set_look(yaw, 0.0);
        let playing = playing.is_some();
        hero::press(&mut input, playing && phase < 2, playing && (50..52).contains(&phase));
    }
}

#[test]
fn dashes_and_teleports_of_the_shooter_happen_once_on_owner_and_server_and_need_no_correction() {
    let server = ServerOptions { heroes: true, ..default() };
    let mut played = start(MatchOptions { players: 2, conditions: link_150(), server, ..default() });
    played.server.init_resource::<Uses>().add_systems(FixedUpdate, count_uses.in_set(MoveSystems::React));
    for client in &mut played.clients {
        hold_still(client);
        client.insert_resource(Playing).init_resource::<Uses>().add_systems(
            FixedUpdate,
            (
                use_abilities.after(MoveSystems::Sample).before(MoveSystems::Step),
                count_uses.in_set(MoveSystems::React),
            ),
        );
    }
    let before: Vec<_> = played.clients.iter_mut().map(|client| stats(client).corrections).collect();
    played.run(seconds(10.0));
    for client in &mut played.clients {
        client.world_mut().remove_resource::<Playing>();
    }
    played.run(seconds(2.0));
    let on_server = played.server.world().resource::<Uses>().0.clone();
    for (client, before) in played.clients.iter_mut().zip(before) {
        let id = own_id(client);
        let own = client.world().resource::<Uses>().0.get(&id).copied().unwrap_or_default();
        assert!(own >= 6, "{id:?} used its abilities only {own} times");
        assert_eq!(on_server.get(&id), Some(&own), "uses of {id:?} on the server");
        assert_eq!(stats(client).corrections, before, "corrections of {id:?}");
    }
}
