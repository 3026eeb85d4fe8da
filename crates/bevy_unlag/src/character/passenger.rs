//! Passengers of vehicles.

use bevy::prelude::*;
use bevy_unlag_core::{
    CurrentTick, MoveModel, MoveSystems, Passenger, PoseSample, PublishedState, Snapshot, TickSystems,
};
use bevy_unlag_movement::{BaseId, HasCapsule, MovementMode};
use bevy_unlag_smoothing::SmoothingSystems;

/// Systems that seat passengers, between a tick's moves and the recording of paths.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum PassengerSystems {
    /// Reads the poses of vehicles.
    Find,
    /// Writes the states of passengers.
    Sit,
}

/// Pose of the vehicle of a passenger in this tick.
#[derive(Component, Clone, Copy)]
struct VehiclePose {
    snapshot: Snapshot,
    pose: PoseSample,
}

/// Adds a model as one of vehicles, on a server.
pub(super) fn add_vehicle<M: MoveModel>(app: &mut App) {
    app.configure_sets(
        FixedPostUpdate,
        (PassengerSystems::Find, PassengerSystems::Sit)
            .chain()
            .after(MoveSystems::Publish)
            .before(SmoothingSystems::Record)
            .in_set(TickSystems),
    )
    .add_systems(FixedPostUpdate, find_vehicles::<M>.in_set(PassengerSystems::Find));
}

/// Adds a model as one of passengers, on a server.
pub(super) fn add_passenger<M: MoveModel<State: HasCapsule>>(app: &mut App) {
    app.add_systems(FixedPostUpdate, sit::<M>.in_set(PassengerSystems::Sit));
}

fn find_vehicles<M: MoveModel>(
    tick: Res<CurrentTick>,
    passengers: Query<(Entity, &Passenger)>,
    vehicles: Query<(&M::State, Option<&PublishedState<M>>)>,
    mut commands: Commands,
) {
    for (passenger, Passenger { vehicle, .. }) in &passengers {
        let Ok((state, published)) = vehicles.get(*vehicle) else { continue };
        let state = published.map_or(state, |published| &published.state);
        let snapshot = M::snapshot(state, tick.0);
        let pose = PoseSample {
            position: M::position(state),
            velocity: M::velocity(state),
            ..PoseSample::from(&snapshot)
        };
        commands.entity(passenger).insert(VehiclePose { snapshot, pose });
    }
}

fn sit<M: MoveModel<State: HasCapsule>>(mut passengers: Query<(&Passenger, &VehiclePose, &mut M::State)>) {
    for (Passenger { seat, .. }, VehiclePose { snapshot, pose }, mut state) in &mut passengers {
        let (to_seat, up) = (pose.rotation * *seat, pose.rotation * Vec3::Y);
        let state = state.capsule_mut();
        let at = pose.position + to_seat;
        if !at.is_finite() {
            continue;
        }
        if state.position.distance_squared(at) > 4.0 {
            // Getting in is not a flight through the air.
            state.teleports = state.teleports.wrapping_add(1);
        }
        state.position = at;
        state.velocity = pose.velocity + (up * pose.spin).cross(to_seat);
        (state.yaw, state.pitch, state.up) = (snapshot.yaw, 0, up);
        (state.base, state.base_position, state.base_velocity) = (BaseId::NONE, Vec3::ZERO, Vec3::ZERO);
        state.mode = MovementMode::Walking;
    }
}
