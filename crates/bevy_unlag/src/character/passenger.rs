//! Passengers of vehicles.

use bevy::prelude::*;
use bevy_unlag_core::{
    CurrentTick, MoveModel, MoveSystems, Passenger, PawnModel, PawnSystems, PoseSample, PublishedState,
    Seated, Snapshot, TickSystems,
};
use bevy_unlag_lightyear::{AddPawnState, OwnPawnState};
use bevy_unlag_movement::{BaseId, HasCapsule, MovementMode};
use bevy_unlag_prediction::IncomingMoves;
use bevy_unlag_smoothing::SmoothingSystems;

use super::Side;

/// Systems that seat passengers, between a tick's moves and the recording of paths.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum PassengerSystems {
    /// Reads the poses of vehicles.
    Find,
    /// Releases passengers that cannot sit.
    Release,
    /// Writes the states of passengers.
    Sit,
}

/// Pose of the vehicle of a passenger in the tick of its snapshot.
#[derive(Component, Clone, Copy)]
struct VehiclePose {
    snapshot: Snapshot,
    pose: PoseSample,
}

/// Models whose pawns can sit in vehicles.
#[derive(Resource, Default)]
struct PassengerModels(Vec<PawnModel>);

/// Server plugin for passengers, shared by all models.
struct PassengerPlugin;

impl Plugin for PassengerPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<PassengerModels>()
            .configure_sets(
                FixedPostUpdate,
                (PassengerSystems::Find, PassengerSystems::Release, PassengerSystems::Sit)
                    .chain()
                    .after(MoveSystems::Publish)
                    .before(SmoothingSystems::Record)
                    .in_set(TickSystems),
            )
            .add_systems(FixedPostUpdate, release.in_set(PassengerSystems::Release))
            .add_observer(|seated: On<Insert, Passenger>, mut commands: Commands| {
                commands.entity(seated.entity).insert(Seated(true));
            })
            .add_observer(|left: On<Remove, Passenger>, mut commands: Commands| {
                commands.entity(left.entity).try_remove::<VehiclePose>().try_insert(Seated(false));
            });
    }
}

/// Adds a model as one of vehicles.
pub(super) fn add_vehicle<M: MoveModel>(app: &mut App, side: Side) {
    app.add_pawn_state::<Seated>(OwnPawnState::Follow);
    if side == Side::Server {
        bevy_unlag_core::require_plugin(app, PassengerPlugin);
        app.add_systems(
            FixedPostUpdate,
            find_vehicles::<M>.in_set(PassengerSystems::Find).in_set(PawnSystems::of::<M>()),
        );
    }
}

/// Adds a model as one of passengers, on a server.
pub(super) fn add_passenger<M: MoveModel<State: HasCapsule>>(app: &mut App) {
    app.world_mut().get_resource_or_init::<PassengerModels>().0.push(PawnModel::of::<M>());
    app.add_systems(FixedPostUpdate, sit::<M>.in_set(PassengerSystems::Sit).in_set(PawnSystems::of::<M>()));
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

/// Removes [`Passenger`] from pawns whose vehicle is gone, and from those that cannot sit.
fn release(
    (tick, models): (Res<CurrentTick>, Res<PassengerModels>),
    passengers: Query<(Entity, &Passenger, Option<&VehiclePose>, Option<&PawnModel>, Has<IncomingMoves>)>,
    entities: Query<()>,
    mut commands: Commands,
) {
    for (pawn, Passenger { vehicle, .. }, at, model, has_player) in &passengers {
        if !entities.contains(*vehicle) {
            warn!("the vehicle {vehicle} of the passenger {pawn} is gone: the pawn moves by itself again");
        } else if has_player {
            error!(
                "{pawn} cannot sit in {vehicle} while a player controls it: give the player another pawn by \
                 Possess, and insert Passenger when Possessed follows"
            );
        } else if !model.is_some_and(|model| models.0.contains(model)) {
            let model = model.map_or("none", PawnModel::name);
            error!("{pawn} cannot sit in {vehicle}: only capsule characters can, and its model is {model}");
        } else if at.is_none_or(|at| at.snapshot.tick != tick.0) {
            error!(
                "{pawn} cannot sit in {vehicle}, which is not a pawn of any character of this app: spawn the \
                 vehicle as an NpcPawn"
            );
        } else {
            continue;
        }
        commands.entity(pawn).remove::<Passenger>();
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
