//! Client modifications: changes to its own state, its moves and its packets.

use bevy::prelude::*;
use bevy_unlag_core::{
    BitReader, BitWriter, CurrentTick, DrawnViewTime, ExtendedState, LocalControl, MoveInput, MoveModel,
    Tick, ViewTime, Wire,
};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState};
use bevy_unlag_prediction::{MovePacket, MoveRun};
use bevy_unlag_weapons::{Aim, FireInput, ShooterView, WeaponState, WithWeapons};

pub type Soldier = WithWeapons<CapsuleModel>;
pub type Input = <Soldier as MoveModel>::Input;
pub type State = ExtendedState<CapsuleState, WeaponState>;

/// Knowledge of a modified client when it produces a move.
pub struct Knows {
    pub tick: Tick,
    pub view: ViewTime,
    pub eye: Vec3,
    pub aim: Aim,
}

impl Knows {
    /// Returns the shot of an honest client along its aim.
    pub fn shot(&self, input: &Input) -> FireInput {
        self.shot_from(self.eye, self.view, input)
    }

    /// Returns a shot with a forged eye position and view time.
    pub fn shot_from(&self, eye: Vec3, view: ViewTime, input: &Input) -> FireInput {
        let look = Aim { yaw: input.body.yaw, pitch: input.body.pitch };
        let sight = ShooterView::new(Some(view), FireInput::rounded(eye));
        FireInput::new(&sight, self.tick).with_aim(self.aim, look)
    }
}

/// Hook that changes a move and the client's own state before the move is simulated.
pub type Change = Box<dyn FnMut(&Knows, &mut Input, &mut State) + Send + Sync>;

#[derive(Resource, Default)]
pub struct Modified(pub Option<Change>);

pub fn modify(
    mut modified: ResMut<Modified>,
    (tick, view, config): (Res<CurrentTick>, Res<DrawnViewTime>, Res<CapsuleConfig>),
    mut own: Query<(&Aim, &mut MoveInput<Soldier>, &mut State), With<LocalControl>>,
) {
    let (Some(change), Some(view)) = (&mut modified.0, view.0) else { return };
    for (aim, mut input, mut state) in &mut own {
        let eye = CapsuleModel::eye(&config, &state.body);
        change(&Knows { tick: tick.0, view, eye, aim: *aim }, &mut input.0, &mut state);
    }
}

/// Changes every move in a packet, including redundant copies.
pub fn forged(bytes: &[u8], now: Tick, forge: &mut dyn FnMut(Tick, &mut Input)) -> Vec<u8> {
    let packet = MovePacket::<Input>::read(&mut BitReader::new(bytes)).expect("its own packet");
    let newest = packet.newest_tick(now);
    let mut runs: Vec<MoveRun<Input>> = Vec::new();
    for run in &packet.runs {
        for older in 0..run.length {
            let (age, mut input) = (run.age + older, run.input);
            forge(newest.offset(-i32::from(age)), &mut input);
            match runs.last_mut().filter(|last| last.age + last.length == age && last.input == input) {
                Some(last) => last.length += 1,
                None => runs.push(MoveRun { age, length: 1, input }),
            }
        }
    }
    let mut w = BitWriter::default();
    MovePacket { runs, ..packet }.write(&mut w);
    w.finish()
}
