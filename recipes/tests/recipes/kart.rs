//! A kart as a second character: a player walks up to it, gets in, drives, and gets out again.

use unlag_recipes::{corrections, floor, own, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{Passenger, Wire},
    lightyear::prelude::ControlledBy,
    movement::{KartModel, KartState},
    net::{MessageRules, MessageSource, Possessed},
    prelude::*,
};

const SOLDIER: NetId = NetId(1);
const KART: NetId = NetId(100);

/// From a player: get into the kart beside me, or out of it.
#[derive(Wire)]
struct UseKart;

fn characters() -> Characters {
    Characters::of::<Soldier>().with::<KartModel>()
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins { characters: characters(), ..default() }, floor))
        .add_game_message::<UseKart>(MessageRules::to_server().per_second(4.0))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((NpcPawn::<KartModel>::default(), KART, Transform::from_xyz(2.0, 0.1, 0.0)));
        })
        .add_systems(Update, enter_or_leave)
        .add_observer(take_seat)
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((CharacterPawn::<Soldier>::default(), SOLDIER, owner));
        });
}

fn enter_or_leave(
    mut requests: MessageReader<Received<UseKart>>,
    on_foot: Query<(&SoldierState, &ControlledBy)>,
    mut seated: Query<(Entity, &mut SoldierState, &Passenger), Without<ControlledBy>>,
    kart: Single<(Entity, &KartState, Option<&ControlledBy>)>,
    mut commands: Commands,
) {
    let (kart, state, driver) = *kart;
    for request in requests.read() {
        let MessageSource::Client(link) = request.from else { continue };
        if driver.is_some_and(|driver| driver.owner == link) {
            let driver = seated.iter_mut().find(|(.., seat)| seat.vehicle == kart);
            let Some((soldier, mut body, _)) = driver else { continue };
            body.body.teleport_to(state.position + Vec3::new(2.0, 0.1, 0.0));
            commands.entity(soldier).remove::<Passenger>();
            commands.trigger(Possess { link, pawn: Some(soldier) });
        } else if let Some((body, _)) = on_foot.iter().find(|(_, by)| by.owner == link)
            && driver.is_none()
            && Soldier::position(body).distance(state.position) < 3.0
        {
            commands.trigger(Possess { link, pawn: Some(kart) });
        }
    }
}

/// The soldier whose player drives sits in the kart: it is seen and hit there.
fn take_seat(done: On<Possessed>, karts: Query<(), With<KartState>>, mut commands: Commands) {
    if let (Some(vehicle), Some(soldier)) = (done.pawn.filter(|pawn| karts.contains(*pawn)), done.previous) {
        commands.entity(soldier).insert(Passenger { vehicle, seat: Vec3::Y * 0.25 });
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins { characters: characters(), ..default() }, floor))
        .add_plugins(PlayerControlsPlugin::default())
        .add_game_message::<UseKart>(MessageRules::to_server().per_second(4.0))
        .init_resource::<UseKey>()
        .add_systems(Update, |mut key: ResMut<UseKey>, mut server: Outbox<UseKart>| {
            if core::mem::take(&mut key.0) {
                server.send(&UseKart);
            }
        })
        // The player stands while on foot, and drives forwards.
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator, With<KartState>>| {
            input.axes(Vec2::Y);
        });
}

/// Whether the key is pressed in this frame.
#[derive(Resource, Default)]
struct UseKey(bool);
// ANCHOR_END: game

#[test]
fn player_drives_away_and_gets_out_elsewhere() {
    play(server, &[client], |game| {
        assert_eq!(own(&mut game.clients[0]), Some(SOLDIER));
        game.clients[0].insert_resource(UseKey(true));
        game.run(2.0);
        assert_eq!(own(&mut game.clients[0]), Some(KART));
        assert_eq!(corrections(&mut game.clients[0]), 0);
        let driven = position(&mut game.server, KART).distance(Vec3::new(2.0, 0.0, 0.0));
        assert!(driven > 3.0, "the kart has moved by {driven} m");
        let apart = position(&mut game.server, SOLDIER).distance(position(&mut game.server, KART));
        assert!(apart < 0.5, "the driver is {apart} m from the kart");

        game.clients[0].insert_resource(UseKey(true));
        game.run(1.0);
        assert_eq!(own(&mut game.clients[0]), Some(SOLDIER));
        assert!(position(&mut game.clients[0], SOLDIER).length() > 3.0, "the soldier has come along");
    });
}
