//! Replication protocol of the lightyear side: a character's identity and its whole predicted state, bit for
//! bit.

use bevy::prelude::*;
use bevy_replicon::{
    bytes::{Buf, Bytes},
    shared::replication::registry::{
        ctx::{SerializeCtx, WriteCtx},
        rule_fns::RuleFns,
    },
};
use bevy_unlag_core::{BitReader, BitWriter, Wire};
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_prediction::PredictionConfig;
use lightyear::prelude::*;

use crate::scene::Walker;

/// Registers the replicated components; identical on both sides.
pub struct ProtocolPlugin;

impl Plugin for ProtocolPlugin {
    fn build(&self, app: &mut App) {
        app.component::<Walker>().replicate_once();
        app.component::<CapsuleState>()
            .replicate_with(RuleFns::new(write, read))
            .predict()
            .with_rollback_condition(is_elsewhere);
    }
}

/// Compares positions with the tolerance of our own server.
fn is_elsewhere(confirmed: &CapsuleState, predicted: &CapsuleState) -> bool {
    confirmed.position.distance(predicted.position) > PredictionConfig::default().tolerance
}

fn write(_: &mut SerializeCtx, state: &CapsuleState, message: &mut Vec<u8>) -> Result<()> {
    let mut w = BitWriter::default();
    state.write(&mut w);
    message.extend(w.finish());
    Ok(())
}

fn read(_: &mut WriteCtx, message: &mut Bytes) -> Result<CapsuleState> {
    let mut r = BitReader::new(message);
    let state = CapsuleState::read(&mut r)?;
    let used = r.bytes_read();
    message.advance(used);
    Ok(state)
}
