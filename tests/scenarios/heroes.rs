//! Abilities of the shooter's players.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{
    core::StepEvent, link_conditioner::LinkConditions, movement::HasCapsule, net::PawnEvent,
    prediction::PredictionDebug, prelude::*,
};
use unlag_examples::{
    app::ServerOptions,
    hero::{self, Hero, HeroCue, HeroState},
    stepped_match::{Match, MatchOptions},
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

/// Uses of abilities that an app has shown, by pawn and kind.
#[derive(Resource, Default)]
struct DisplayedEvents(HashMap<NetId, [usize; 2]>);

fn count_shown(
    mut cues: MessageReader<PawnEvent<HeroCue>>,
    ids: Query<&NetId>,
    mut shown: ResMut<DisplayedEvents>,
) {
    for cue in cues.read() {
        let id = ids.get(cue.pawn).expect("a pawn has an id");
        shown.0.entry(*id).or_default()[usize::from(matches!(cue.event, HeroCue::Second(_)))] += 1;
    }
}

/// Plays for `time` seconds with the abilities, and some more without. Returns the match and the corrections of each
/// client.
fn play(conditions: LinkConditions, force_corrections: f32, time: f64) -> (Match, Vec<u64>) {
    let server = ServerOptions { heroes: true, ..default() };
    let mut played = start(MatchOptions { players: 2, conditions, server, ..default() });
    played.server.world_mut().resource_mut::<PredictionDebug>().force_corrections = force_corrections;
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
    for app in played.apps_mut() {
        app.init_resource::<DisplayedEvents>().add_systems(Last, count_shown);
    }
    let before: Vec<_> = played.clients.iter_mut().map(|client| stats(client).corrections).collect();
    played.run(seconds(time));
    for client in &mut played.clients {
        client.world_mut().remove_resource::<Playing>();
    }
    played.run(seconds(4.0));
    let corrections: Vec<_> = played
        .clients
        .iter_mut()
        .zip(before)
        .map(|(client, before)| stats(client).corrections - before)
        .collect();
    (played, corrections)
}

#[test]
fn dashes_and_teleports_of_the_shooter_happen_once_on_owner_and_server_and_need_no_correction() {
    let (mut played, corrections) = play(link_150(), 0.0, 10.0);
    let on_server = played.server.world().resource::<Uses>().0.clone();
    for (client, corrections) in played.clients.iter_mut().zip(corrections) {
        let id = own_id(client);
        let own = client.world().resource::<Uses>().0.get(&id).copied().unwrap_or_default();
        assert!(own >= 6, "{id:?} used its abilities only {own} times");
        assert_eq!(on_server.get(&id), Some(&own), "uses of {id:?} on the server");
        assert_eq!(corrections, 0, "corrections of {id:?}");
    }
}

#[test]
fn abilities_take_effect_once_on_every_screen_at_300_ms_with_loss_and_forced_corrections() {
    let conditions = LinkConditions { latency: seconds(0.15), loss: 0.1, ..default() };
    let (mut played, corrections) = play(conditions, 0.2, 40.0);
    // Forced corrections change nothing, so they only count as replays.
    let replayed = played.clients.iter_mut().map(|client| stats(client).replayed).min();
    assert!(
        replayed.is_some_and(|moves| moves > 500),
        "the control: {replayed:?} replayed moves, {corrections:?}"
    );
    let expected = played.server.world().resource::<DisplayedEvents>().0.clone();
    let on_server = played.server.world().resource::<Uses>().0.clone();
    assert_eq!(expected.len(), 2);
    for (id, uses) in &expected {
        assert!(uses.iter().all(|uses| *uses >= 15), "{id:?}: {uses:?}");
        assert_eq!(on_server[id], uses[0] + uses[1]);
    }
    let cooldowns = |app: &mut App, id: NetId| {
        let world = app.world_mut();
        let mut pawns = world.query::<(&NetId, &HeroState)>();
        let state = pawns.iter(world).find(|(other, _)| **other == id).expect("the pawn is there").1;
        let abilities = state.body.extension;
        (abilities.first.cooldown, abilities.second.cooldown)
    };
    for index in 0..2 {
        let shown = &played.clients[index].world().resource::<DisplayedEvents>().0;
        assert_eq!(*shown, expected, "the screen of client {index}");
        let id = own_id(&mut played.clients[index]);
        let own = cooldowns(&mut played.clients[index], id);
        assert_eq!(own, cooldowns(&mut played.server, id), "cooldowns of {id:?}");
    }
}
