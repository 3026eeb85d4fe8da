//! Two abilities of one soldier, each with an effect on every screen: a trail for the dash, a flash for the teleport.

use unlag_recipes::{corrections, floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    movement::{
        AbilityEvent,
        abilities::{Dash, DashCue, Teleport, TeleportCue},
    },
    net::PawnEvent,
    prelude::*,
};

/// Two abilities are one, and pairs nest. So are their cues, which the plugin groups show to everybody.
type Hero = SoldierWith<(Dash, Teleport)>;
type HeroCue = AbilityEvent<DashCue, TeleportCue>;

/// An effect where the pawn is. A game spawns particles and plays a sound.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
enum Effect {
    Trail,
    Flash,
}

/// On every machine, the server included: a cue comes when the screen shows it, and a replay is silent.
fn play_effects(
    mut cues: MessageReader<PawnEvent<HeroCue>>,
    pawns: Query<&Transform>,
    mut commands: Commands,
) {
    for cue in cues.read() {
        let Ok(place) = pawns.get(cue.pawn) else { continue };
        let effect = match cue.event {
            AbilityEvent::First(DashCue) => Effect::Trail,
            AbilityEvent::Second(TeleportCue) => Effect::Flash,
        };
        commands.spawn((effect, *place));
    }
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins { characters: Characters::of::<Hero>(), ..default() }, floor))
        .add_systems(Last, play_effects)
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            let place = Transform::from_xyz(8.0 * f32::from(*players), 0.1, 0.0);
            *players += 1;
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Hero>::default(), NetId(*players), place, owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { characters: Characters::of::<Hero>(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default())
        .add_systems(Last, play_effects);
}
// ANCHOR_END: game

/// A player who dashes, and teleports a second later. With keys: `pressed` of a `ButtonInput`.
fn hero(app: &mut App) {
    app.add_plugins(client).add_systems(FixedUpdate, press.in_set(MoveSystems::Sample));
}

fn press(time: Res<Time>, mut own: Query<&mut MoveInput<Hero>, With<LocalControl>>) {
    let down = |from: f32| (from..from + 0.1).contains(&time.elapsed_secs());
    for mut input in &mut own {
        let abilities = &mut input.0.body.extension;
        abilities.first.pressed = down(3.0);
        abilities.second.pressed = down(4.0);
    }
}

#[test]
fn dash_and_teleport_show_their_effects_once_on_every_screen() {
    play(server, &[hero, client], |game| {
        let from = position(&mut game.server, NetId(1));
        game.run(4.0);
        let way = position(&mut game.server, NetId(1)).distance(from);
        assert!(way > 10.0, "4 m by the dash and 10 m by the teleport: {way} m");
        for (number, app) in game.apps_mut().enumerate() {
            let world = app.world_mut();
            let shown: Vec<_> = world.query::<&Effect>().iter(world).copied().collect();
            assert_eq!(shown, [Effect::Trail, Effect::Flash], "app {number}");
        }
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
