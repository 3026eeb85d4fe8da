//! Spawning and resetting of the course's entities.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, ColliderMassProperties, RigidBody, Sensor, Velocity};
use bevy_unlag_movement::{
    BaseId, BaseTrack, GravityField, InputAccumulator, MoveVolume, MovementBase, OneWayCollider, Shuttle,
    Turntable,
};

use crate::{
    course::{BaseMotion, Course, GROUND, GROUND_AT, HILLS, Kind, Prop, Role, Shape, Station, hills, quilt},
    pawn::{Dummy, PawnState, Player, pawn, resting_state},
};

/// Mass of a crate, in kilograms.
const CRATE_MASS: f32 = 15.0;

/// Appearance of a prop; the window's plugins draw it.
#[derive(Component, Clone, Copy, Debug)]
pub struct Appearance {
    /// Shape.
    pub shape: Shape,
    /// Kind, which determines the colour.
    pub kind: Kind,
    /// Whether it is translucent.
    pub glass: bool,
}

/// A movable crate, and its home transform.
#[derive(Component)]
pub struct Crate(pub Transform);

/// Moves the player to the start of a station, and everything that was displaced to its home position.
#[derive(Event, Clone, Copy, Debug)]
pub struct ResetStation {
    /// Index of the station.
    pub station: usize,
}

/// Index of the station that the player was last moved to.
#[derive(Resource, Clone, Copy, Default, Debug)]
pub struct CurrentStation(pub usize);

/// Spawns the course and the player.
pub fn plugin(app: &mut App) {
    app.insert_resource(Course::laid_out())
        .init_resource::<CurrentStation>()
        .add_systems(Startup, spawn_course)
        .add_observer(reset_station);
}

fn spawn_course(course: Res<Course>, here: Res<CurrentStation>, mut commands: Commands) {
    let ground = Appearance { shape: Shape::Box(GROUND), kind: Kind::Ground, glass: false };
    commands.spawn((
        ground,
        Collider::cuboid(GROUND.x, GROUND.y, GROUND.z),
        Transform::from_translation(GROUND_AT),
    ));
    for station in &course.0 {
        for prop in &station.props {
            spawn_prop(&mut commands, prop, station.origin);
        }
        for at in station.dummies.iter().map(|at| station.place(*at)) {
            commands.spawn((Dummy(at), pawn(at)));
        }
    }
    let start = course.0.get(here.0).map_or(Vec3::ZERO, |station| station.place(station.start));
    commands.spawn((Player, InputAccumulator::default(), pawn(start)));
}

fn spawn_prop(commands: &mut Commands, prop: &Prop, origin: Vec3) -> Entity {
    let transform = Transform::from_translation(origin + prop.at).with_rotation(prop.turn);
    let glass = matches!(prop.role, Role::Volume(_));
    let look = Appearance { shape: prop.shape, kind: prop.kind, glass };
    let entity = commands.spawn((look, transform)).id();
    let mut spawned = commands.entity(entity);
    if prop.role != Role::Decor
        && let Some(collider) = collider(prop.shape)
    {
        spawned.insert(collider);
    }
    match prop.role {
        Role::Fixed | Role::Decor => {}
        Role::OneWayCollider => {
            spawned.insert(OneWayCollider::default());
        }
        Role::Crate => {
            let mass = ColliderMassProperties::Mass(CRATE_MASS);
            spawned.insert((RigidBody::Dynamic, mass, Velocity::default(), Crate(transform)));
        }
        Role::Base(id, way) => {
            spawned.insert(MovementBase { id: BaseId(id), track: track(way, &transform, origin) });
        }
        Role::Volume(volume) => {
            spawned.insert((Sensor, placed(volume, origin)));
        }
    }
    for child in &prop.children {
        let child = spawn_prop(commands, child, Vec3::ZERO);
        commands.entity(entity).add_child(child);
    }
    entity
}

fn collider(shape: Shape) -> Option<Collider> {
    match shape {
        Shape::Box(half) => Some(Collider::cuboid(half.x, half.y, half.z)),
        Shape::Ball(radius) => Some(Collider::ball(radius)),
        Shape::Disc { radius, half_height } => Some(Collider::cylinder(half_height, radius)),
        Shape::Hills => {
            let (heights, rows, columns) = hills();
            Some(Collider::heightfield(heights, rows, columns, HILLS))
        }
        Shape::Quilt => {
            let (corners, triangles) = quilt();
            Collider::trimesh(corners, triangles).ok()
        }
    }
}

fn track(way: BaseMotion, start: &Transform, origin: Vec3) -> BaseTrack {
    match way {
        BaseMotion::Shuttle { to, travel, pause } => BaseTrack::Shuttle(Shuttle {
            from: start.translation,
            to: origin + to,
            rotation: start.rotation,
            travel_seconds: travel,
            pause_seconds: pause,
            ..default()
        }),
        BaseMotion::Turns(seconds) => BaseTrack::Turntable(Turntable {
            pivot: start.translation,
            seconds_per_turn: seconds,
            ..default()
        }),
    }
}

/// Converts a volume's gravity centre from station space to world space.
fn placed(volume: MoveVolume, origin: Vec3) -> MoveVolume {
    let gravity = volume.gravity.map(|field| match field {
        GravityField::Towards { centre, strength } => {
            GravityField::Towards { centre: origin + centre, strength }
        }
        uniform @ GravityField::Uniform(_) => uniform,
    });
    MoveVolume { gravity, ..volume }
}

fn reset_station(
    put: On<ResetStation>,
    course: Res<Course>,
    mut here: ResMut<CurrentStation>,
    mut players: Query<(&mut PawnState, &mut InputAccumulator), With<Player>>,
    mut dummies: Query<(&mut PawnState, &Dummy), Without<Player>>,
    mut crates: Query<(&mut Transform, &mut Velocity, &Crate)>,
) {
    let Some(station) = course.0.get(put.station) else { return };
    here.0 = put.station;
    for (mut state, mut gather) in &mut players {
        *state = resting_state(start_of(station), state.body.teleports);
        gather.set_view(0.0, 0.0);
    }
    for (mut state, dummy) in &mut dummies {
        *state = resting_state(dummy.0, state.body.teleports);
    }
    for (mut transform, mut velocity, Crate(home)) in &mut crates {
        *transform = *home;
        *velocity = Velocity::default();
    }
}

fn start_of(station: &Station) -> Vec3 {
    // Slightly above the floor, so that no pawn starts inside of it.
    station.place(station.start) + Vec3::Y * 0.02
}
