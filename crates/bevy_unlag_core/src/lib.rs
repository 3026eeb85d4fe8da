//! The words that every crate of the `bevy_unlag` suite shares.
//!
//! * [`NetRole`] says who decides about a pawn, [`NetId`] names it on the wire.
//! * [`Tick`] and [`ViewTime`] are time: whole simulation ticks, and ticks with a fixed-point
//!   fraction. No float travels as time.
//! * [`MoveModel`] is one pure step of something that is predicted: the capsule character, a kart,
//!   your own. [`MoveExtension`] puts more predicted state beside a model's own.
//! * [`Snapshot`] is what everyone but the owner learns of a pawn, [`SnapshotHistory`] keeps some,
//!   and [`Sampler`] turns them into the pose that is *drawn* on a client and *judged* on the
//!   server: the same code, the same bits.
//! * [`ViewStamp`] says how a pose came about, so that the server can repeat it.
//! * [`Wire`], [`BitWriter`] and [`BitReader`] turn values into bits and back; reading is total.

mod angle;
mod extension;
mod history;
mod model;
mod rig;
mod role;
mod sampler;
mod snapshot;
mod tick;
mod up;
mod view;
mod visual;
mod wire;

pub use angle::{angle_to_units, look_direction, sin_cos_of_units, units_to_angle};
pub use extension::{Extended, ExtendedEvent, ExtendedInput, ExtendedState, MoveExtension};
pub use history::SnapshotHistory;
pub use model::{MoveInput, MoveModel, MoveSystems, Shown, StepContext, StepEvent};
pub use rig::LimbRig;
pub use role::{LocalControl, NetId, NetRole};
pub use sampler::{Interpolation, PoseSample, Sampler};
pub use snapshot::{POSITION_UNITS_PER_METRE, Snapshot, VELOCITY_UNITS_PER_METRE};
pub use tick::{CurrentTick, SUB_TICKS, Stall, Tick, TickPlugin, TickSystems, ViewTime};
pub use up::{Up, upright_rotation};
pub use view::{DrawnEye, DrawnPose, DrawnViewTime, ViewStamp};
pub use visual::{VisualOf, VisualOffset, VisualPlugin, VisualSystems, Visuals};
pub use wire::{BitReader, BitWriter, Wire, WireError};
