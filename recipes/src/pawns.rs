//! Level, pawns, players who fire and walk, and look-ups of pawns by their id.

use bevy::prelude::*;
use bevy_unlag::{prelude::*, rapier::prelude::Collider};

/// Adds the level: a floor of 400 by 400 m at height 0. Servers and clients need the same one.
pub fn floor(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

/// Gives every player of a server a soldier: `NetId(1)` at the origin, each other one 8 m further along -Z,
/// which is straight ahead.
pub fn soldiers(app: &mut App) {
    app.add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
        let place = Transform::from_xyz(0.0, 0.1, -8.0 * f32::from(*players));
        *players += 1;
        let owner = player_pawn(joined.link, joined.peer);
        commands.spawn((SoldierPawn, NetId(*players), Health::default(), place, owner));
    });
}

/// Makes the player of a client look along a direction and fire. `is_down` says whether the trigger is down, by
/// the seconds since the client's start.
pub fn fire_along(app: &mut App, direction: Vec3, is_down: fn(f32) -> bool) {
    app.add_systems(
        PreUpdate,
        move |time: Res<Time>, own: Single<(&mut InputAccumulator, &mut WeaponControls)>| {
            let (mut input, mut trigger) = own.into_inner();
            input.look_along(direction);
            trigger.set_fire(is_down(time.elapsed_secs()));
        },
    );
}

/// Makes the player of a client aim at the chest of the other soldier as it is drawn, and hold the trigger. For matches
/// of two.
pub fn fire_at_other(app: &mut App) {
    app.add_systems(
        PreUpdate,
        |own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls)>,
         other: Single<&DrawnPose, Without<LocalControl>>| {
            let (drawn, mut input, mut trigger) = own.into_inner();
            let eye = drawn.pose.position + Vec3::Y * 1.64;
            input.look_along(other.pose.position + Vec3::Y * 1.1 - eye);
            trigger.set_fire(true);
        },
    );
}

/// Makes the player of a client walk to the right for a second and to the left for a second, in turns.
pub fn walk_to_and_fro(app: &mut App) {
    app.add_systems(PreUpdate, |time: Res<Time>, mut input: Single<&mut InputAccumulator>| {
        input.axes(if time.elapsed_secs() % 2.0 < 1.0 { Vec2::X } else { Vec2::NEG_X });
    });
}

/// Returns a component of the pawn with this id, as an app has it.
#[must_use]
pub fn component<C: Component + Clone>(app: &mut App, id: NetId) -> Option<C> {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &C)>();
    pawns.iter(world).find(|(other, _)| **other == id).map(|(_, component)| component.clone())
}

/// Returns the position of a pawn: where a client draws it, and where it stands on the server.
///
/// # Panics
/// The app has no such pawn.
#[must_use]
pub fn position(app: &mut App, id: NetId) -> Vec3 {
    let drawn = component::<DrawnPose>(app, id).map(|drawn| drawn.pose.position);
    let simulated = component::<Transform>(app, id).map(|transform| transform.translation);
    drawn.or(simulated).unwrap_or_else(|| panic!("there is no {id:?}"))
}

/// Returns the pawn that the player of a client controls, if any.
#[must_use]
pub fn own(client: &mut App) -> Option<NetId> {
    let world = client.world_mut();
    world.query_filtered::<&NetId, With<LocalControl>>().iter(world).next().copied()
}

/// Returns the number of corrections of a client's own pawns: how often the server has put one elsewhere.
#[must_use]
pub fn corrections(client: &mut App) -> u64 {
    let world = client.world_mut();
    world.query::<&PredictionStats>().iter(world).map(|stats| stats.corrections).sum()
}

/// Returns the number of changes of a client's own pawns that the server made beside their moves: the client
/// learned of them late.
#[must_use]
pub fn server_changes(client: &mut App) -> u32 {
    let world = client.world_mut();
    world.query::<&PredictionStats>().iter(world).map(PredictionStats::server_changes).sum()
}
