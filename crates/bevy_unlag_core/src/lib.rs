//! Shared types of the `bevy_unlag` suite: ticks, snapshots, pose sampling, movement models and bit packing.
//!
//! ```text
//!  MoveModel::step ─► State ─► Snapshot ─► PathRecorder ─► ProxyUpdate ── Wire ─► bytes
//!                                                                                   │
//!  drawn pose  ◄─┐                                                                  ▼
//!  tested pose ◄─┴── PoseSampler ◄── SnapshotHistory ◄── ProxyUpdate ◄── Wire ───  bytes
//!                        ▲
//!               ViewTime, ViewStamp
//! ```
//!
//! * Identity: [`NetRole`] is the role of a pawn in this app, [`NetId`] its id on the wire.
//! * Time: [`Tick`] is a whole simulation tick, [`ViewTime`] a tick with a fixed-point fraction. No time is
//!   sent as a float. [`GameClock`] is real time as slow motion and pauses of the whole game
//!   stretch it.
//! * Movement: [`MoveModel`] is one pure, predicted simulation step, for the capsule character, a kart or a
//!   model of your own; [`MoveDiagnostics`] names the causes of its errors. [`MoveExtension`] adds
//!   predicted state, such as a weapon, to a model.
//! * Replication: [`Snapshot`] is the replicated state of a remote pawn. [`PathRecorder`] selects the
//!   snapshots to send, so that a curve through them follows the pawn's path, and packs them into a
//!   [`ProxyUpdate`].
//! * Sampling: [`SnapshotHistory`] buffers snapshots and [`PoseSampler`] turns them into poses. The client
//!   draws and the server validates shots with the same code, so both get the same bits.
//! * Smoothing: [`ProxySmoothing`] selects how one pawn is drawn, [`Interpolate`] defines interpolation for
//!   any value, [`BasePoses`] provides the poses of movement bases such as lifts, and [`BaseScheduleMailbox`]
//!   carries the schedules of those that move on command.
//! * Gravity: [`ViewFrame`] is the frame of a pawn's view, whatever is up for it, and [`WorldGravity`] the
//!   gravity at any place, for projectiles.
//! * Lag compensation: [`ViewStamp`] records how a pose was sampled, so that the server can reproduce it.
//! * Diagnostics: [`SetupDiagnostics`] collects mistakes in the setup of an app.
//! * Bit packing: [`Wire`], which `#[derive(Wire)]` implements for inputs, states and messages of
//!   a game, [`BitWriter`] and [`BitReader`]. Reading is total: it never panics on any input.
//!
//! # Example
//!
//! Two snapshots of a runner are sent, and drawn at a moment between them:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_unlag_core::{
//!     BaseView, BitReader, BitWriter, PoseSampler, ProxyUpdate, Snapshot, SnapshotHistory, Tick, ViewTime,
//! };
//!
//! let mut received = SnapshotHistory::default();
//! for tick in [Tick(96), Tick(99)] {
//!     // 6.4 m/s at 64 ticks per second.
//!     let runner = Snapshot::new(tick, Vec3::X * (0.1 * tick.0 as f32), Vec3::X * 6.4);
//!     let mut w = BitWriter::default();
//!     ProxyUpdate::from(runner).write(tick, &mut w);
//!     // The client. Any bytes are an update or an error.
//!     let update = ProxyUpdate::read(tick, &mut BitReader::new(&w.finish()))?;
//!     for snapshot in update.iter() {
//!         received.insert(*snapshot);
//!     }
//! }
//! let half_way = ViewTime { tick: Tick(97), fraction: 128 };
//! let pose = received.pose_at(half_way, &PoseSampler::default(), &BaseView::default()).expect("it is known");
//! assert!((pose.position.x - 9.75).abs() < 0.01);
//! # Ok::<(), bevy_unlag_core::WireError>(())
//! ```
//!
//! # Features
//!
//! | Feature | Default | Effect |
//! | --- | --- | --- |
//! | `visibility` | yes | Hides visuals of dead pawns. It needs Bevy's crates for cameras and images; a dedicated server turns it off. |
//! | `serde_wire` | no | `SerdeWire`: a value with serde as a value with [`Wire`]. |
//!
//! # In the book
//!
//! In the repository, `book/src/reference/own_models.md` tells how to write a [`MoveModel`] and lists the attributes of
//! `#[derive(Wire)]`, `book/src/concepts/clocks.md` explains ticks and view times, and `book/src/glossary.md` the
//! terms.

// `#[derive(Wire)]` names this crate by its own name, also inside of it.
extern crate self as bevy_unlag_core;

mod angle;
mod base_poses;
mod base_schedule_mailbox;
mod defaults;
mod drawn_pose;
mod extension;
mod game_clock;
mod gravity;
mod hermite;
mod history;
mod interpolate;
mod lifecycle;
mod marker_impls;
mod model;
mod moves_acknowledged;
mod named_enum;
mod own_move_delay;
mod passenger;
mod path_recorder;
mod pawn_class;
mod pawn_model;
mod pose_sample;
mod proxy_smoothing;
mod proxy_update;
mod rate;
mod reflection;
mod required_plugin;
mod rig;
mod role;
mod round_trip;
mod sampler;
#[cfg(feature = "serde_wire")]
mod serde_wire;
mod setup_diagnostics;
mod snapshot;
mod snapshot_ack;
mod system_sets;
mod tick;
mod time_dilation;
mod up;
mod update_trail;
mod view;
mod view_frame;
mod visual;
mod wire;
pub mod wire_format;

pub use angle::{angle_to_units, look_angles, look_direction, sin_cos_of_units, units_to_angle};
pub use base_poses::{BasePoses, BaseView};
pub use base_schedule_mailbox::BaseScheduleMailbox;
#[doc(inline)]
pub use bevy_unlag_derive::Wire;
pub use drawn_pose::DrawnPose;
pub use extension::{BodyStep, Extended, ExtendedEvent, ExtendedInput, ExtendedState, MoveExtension};
pub use game_clock::{GameClock, GameClockPlugin};
pub use gravity::{LocalGravity, WorldGravity};
pub use history::SnapshotHistory;
pub use interpolate::{AngularMotion, Interpolate, Interpolation, InterpolationSpan, LinearMotion};
pub use lifecycle::{MatchReset, OwnerReconnected, ServerLeft};
pub use model::{
    CaughtUpStates, MoveDiagnostics, MoveInput, MoveModel, PublishedState, StepContext, StepEvent,
};
pub use moves_acknowledged::{MoveFate, MovesAcknowledged};
pub use own_move_delay::OwnMoveDelay;
pub use passenger::{Passenger, Seated};
pub use path_recorder::{PathKnotConfig, PathRecorder};
pub use pawn_class::PawnClass;
pub use pawn_model::PawnModel;
pub use pose_sample::PoseSample;
pub use proxy_smoothing::ProxySmoothing;
pub use proxy_update::{MAX_PATH_KNOTS, MAX_RESENT_SNAPSHOTS, ProxyUpdate};
pub use rate::{SimulationRate, SimulationRatePlugin};
pub use required_plugin::require_plugin;
pub use rig::{LimbPoses, LimbRig, MAX_LIMBS};
pub use role::{LocalControl, NetId, NetRole, ServerControl};
pub use round_trip::RoundTrip;
pub use sampler::PoseSampler;
#[cfg(feature = "serde_wire")]
pub use serde_wire::SerdeWire;
pub use setup_diagnostics::{SetupDiagnostics, SetupIssue, TransformWatch};
pub use snapshot::{
    ACCELERATION_UNITS_PER_METRE, Arrival, POSITION_UNITS_PER_METRE, SPIN_UNITS_PER_TURN, Snapshot,
    VELOCITY_UNITS_PER_METRE,
};
pub use snapshot_ack::{LastReceivedSnapshot, SnapshotAck, SnapshotAcks};
pub use system_sets::{MoveSystems, PawnSystems, PawnSystemsPlugin, TickSystems, VisualSystems};
pub use tick::{CurrentTick, SUB_TICKS, Stall, Tick, TickPlugin, ViewTime, sub_ticks};
pub use time_dilation::TimeDilation;
pub use up::{Up, split_height, up_and_heading, upright_rotation};
pub use update_trail::UpdateTrail;
pub use view::{DrawnBaseTime, DrawnEye, DrawnViewTime, MeasuredUpdateInterval, ViewStamp};
pub use view_frame::ViewFrame;
pub use visual::{Easing, VisualOf, VisualOffset, VisualPlugin, Visuals};
pub use wire::{BitReader, BitWriter, Wire, WireError, check_wire, check_wire_value};
