//! Distribution of shot and projectile messages to clients.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::DrawnViewTime,
    prelude::*,
    weapons::{
        DrawnProjectile, ProjectileAppeared, ProjectileDisappeared, ProjectileEndKind, ProjectileLaunch,
        ShotResult, Tracer,
    },
};
use lightyear::prelude::{Client, Connected, ControlledBy, Disconnect, VisibilityExt, server::NetcodeServer};
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use crate::{hold_still, own_id, seconds, start};

const RIFLE: u8 = 0;
const ROCKETS: u8 = 2;

/// Messages that an app received.
#[derive(Resource, Default)]
struct ReceivedMessages {
    verdicts: Vec<ShotResult>,
    tracers: usize,
    launches: Vec<ProjectileLaunch>,
    shown: Vec<ProjectileAppeared>,
    ended: Vec<ProjectileEndKind>,
    damage: Vec<Damage>,
}

fn record_messages(
    mut received: ResMut<ReceivedMessages>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut tracers: MessageReader<Tracer>,
    mut launches: MessageReader<ProjectileLaunch>,
    mut shown: MessageReader<ProjectileAppeared>,
    mut ended: MessageReader<ProjectileDisappeared>,
    mut damage: MessageReader<Damage>,
) {
    received.verdicts.extend(verdicts.read().map(|verdict| verdict.result));
    received.tracers += tracers.read().count();
    received.launches.extend(launches.read());
    received.shown.extend(shown.read());
    received.ended.extend(ended.read().map(|ended| ended.kind));
    received.damage.extend(damage.read());
}

fn all_weapons() -> ServerOptions {
    ServerOptions { weapon_set: WeaponSet::All, ..ServerOptions::default() }
}

/// Starts a match of two idle players with all weapons.
fn start_idle_match() -> Match {
    let server = all_weapons();
    let conditions = crate::link_150();
    let mut game = start(MatchOptions { players: 2, conditions, server, ..MatchOptions::default() });
    for app in game.apps_mut() {
        app.init_resource::<ReceivedMessages>().add_systems(Last, record_messages);
    }
    game.clients.iter_mut().for_each(hold_still);
    game.run(seconds(1.0));
    game
}

fn received(app: &App) -> &ReceivedMessages {
    app.world().resource::<ReceivedMessages>()
}

/// Equips a weapon, aims along a direction and pulls the trigger `times` times, one second apart. A pull with
/// an empty magazine reloads.
fn fire(game: &mut Match, client: usize, (slot, along): (u8, Vec3), times: u32) {
    let hands = |game: &mut Match, pulls: bool, equip: Option<u8>| {
        let world = game.clients[client].world_mut();
        let mut own =
            world.query_filtered::<(&mut InputAccumulator, &mut WeaponControls), With<LocalControl>>();
        let (mut gather, mut trigger) = own.single_mut(world).expect("the client has a pawn");
        gather.look_along(along);
        trigger.set_fire(pulls);
        trigger.equip = equip.or(trigger.equip);
    };
    for step in 0..100 {
        hands(game, false, (step == 0).then_some(slot));
        game.run(seconds(0.01));
    }
    for step in 0..times * 100 {
        hands(game, step % 100 < 5, None);
        game.run(seconds(0.01));
    }
    hands(game, false, None);
}

fn pawn(game: &mut Match, id: NetId) -> (Entity, Entity) {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId, &ControlledBy)>();
    let found = pawns.iter(world).find(|(_, other, _)| **other == id);
    found.map(|(pawn, _, by)| (pawn, by.owner)).expect("the client has a pawn")
}

/// Creates a client that has not joined yet.
fn late_joiner() -> App {
    let mut client = app::scripted_client(99, all_weapons());
    client.insert_resource(TimeUpdateStrategy::ManualDuration(seconds(0.01)));
    client
        .insert_resource(ScriptedPlayer::idle())
        .init_resource::<ReceivedMessages>()
        .add_systems(Last, record_messages);
    client
}

fn run_with(game: &mut Match, late: &mut App, time: f64) {
    for _ in 0..(time / 0.01) as u32 {
        game.run(seconds(0.01));
        late.update();
    }
}

fn flying(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&DrawnProjectile>().iter(world).count()
}

#[test]
fn rocket_at_the_own_feet_damages_and_throws_its_shooter_without_a_hit_verdict() {
    let mut game = start_idle_match();
    let id = own_id(&mut game.clients[0]);
    let (own, _) = pawn(&mut game, id);
    fire(&mut game, 0, (ROCKETS, Vec3::NEG_Y + Vec3::NEG_Z * 0.05), 1);
    game.run(seconds(1.0));
    let damage = &received(&game.server).damage;
    let itself = damage.iter().find(|damage| damage.target == own && damage.shooter == own);
    let itself = itself.unwrap_or_else(|| panic!("the shooter has no damage: {damage:?}"));
    assert!(itself.amount > 10.0 && itself.throw.y > 2.0, "{itself:?}");
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(received(&game.clients[0]).verdicts, [ShotResult::Launched, ShotResult::Miss]);
}

#[test]
fn invisible_shooter_sends_no_tracers_but_its_rockets_are_shown() {
    let mut game = start_idle_match();
    let ids = [own_id(&mut game.clients[0]), own_id(&mut game.clients[1])];
    let ((_, link), (shooter, _)) = (pawn(&mut game, ids[0]), pawn(&mut game, ids[1]));
    fire(&mut game, 1, (RIFLE, Vec3::Y), 5);
    game.run(seconds(1.0));
    let before = received(&game.clients[0]).tracers;
    assert!(before >= 4, "only {before} tracers of the visible shooter");
    game.server.world_mut().lose_visibility(shooter, link);
    game.run(seconds(1.0));
    fire(&mut game, 1, (RIFLE, Vec3::Y), 5);
    fire(&mut game, 1, (ROCKETS, Vec3::Y), 3);
    game.run(seconds(1.0));
    assert!(received(&game.server).tracers >= 9, "the invisible shooter did not fire");
    assert_eq!(received(&game.clients[0]).tracers, before, "tracers of an invisible shooter were sent");
    let here = received(&game.clients[0]);
    assert!(here.launches.iter().all(|launch| launch.shooter == ids[1]));
    let own = &received(&game.clients[1]).verdicts;
    assert_eq!(
        (here.launches.len(), here.shown.len()),
        (2, 2),
        "projectiles of an invisible shooter must be shown: {own:?}"
    );
}

#[test]
fn late_joiner_sees_projectiles_in_flight_and_a_leaving_client_drops_them() {
    let mut game = start_idle_match();
    fire(&mut game, 0, (ROCKETS, Vec3::Y), 3);
    let mut late = late_joiner();
    let world = game.server.world_mut();
    let listener = world.query_filtered::<Entity, With<NetcodeServer>>().single(world).expect("one listener");
    let sim = NetSim::new(5).with(crate::link_150());
    connection::join(&mut game.server, listener, &mut late, 77, sim).expect("the client joins");
    bevy_unlag_testkit::finish(&mut late);
    run_with(&mut game, &mut late, 1.5);
    let (there, here) = (flying(&mut game.clients[1]), flying(&mut late));
    assert_eq!((there, here), (2, 2), "{:?}", received(&game.clients[0]).verdicts);
    assert!(received(&late).shown.iter().all(|shown| shown.flown > 0.5), "{:?}", received(&late).shown);
    // The late joiner disconnects.
    let world = late.world_mut();
    let own = world.query_filtered::<Entity, (With<Client>, With<Connected>)>().single(world);
    let own = own.expect("the client is connected");
    world.trigger(Disconnect { entity: own });
    run_with(&mut game, &mut late, 0.2);
    assert_eq!(flying(&mut late), 0);
    assert_eq!(received(&late).ended, [ProjectileEndKind::Gone; 2]);
    assert_eq!(
        late.world().resource::<DrawnViewTime>().0,
        None,
        "a disconnected client must have no view time"
    );
    assert_eq!(flying(&mut game.clients[1]), 2, "other clients must keep their projectiles");
}
