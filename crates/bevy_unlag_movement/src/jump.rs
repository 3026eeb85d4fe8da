//! Jumping: variable height, multiple jumps, coyote time and jump buffer.

use crate::{
    BaseId, MoveEvent,
    slice::{Physics, Slice},
};

/// Starts or continues a jump. `dt` is the duration of the whole step.
pub(crate) fn jump(slice: &mut Slice<'_>, dt: f32) {
    let config = slice.config;
    let pressed = slice.input.jump && !slice.state.jump_held;
    slice.state.jump_held = slice.raw_jump;
    slice.held_up = 0.0;
    let early = slice.state.jump_buffer > 0.0;
    slice.state.jump_buffer =
        if pressed { config.jump_buffer } else { (slice.state.jump_buffer - dt).max(0.0) };

    let custom = config.custom_mode(slice.state.mode);
    // Custom modes such as a wall run or a ladder decide for themselves whether jumping is possible.
    // Plain flight does not allow it: the button moves up there.
    let grounded = custom.map_or(slice.physics() == Physics::Walk, |custom| custom.can_jump);
    let may = custom.is_none_or(|custom| custom.can_jump);
    let airborne = slice.physics() == Physics::Fall;
    let late = airborne && slice.state.jumps == 0 && slice.state.air_seconds <= config.coyote_time.max(0.0);
    // A pawn that fell off an edge has used up the jump from the floor.
    let used = if airborne && !late { slice.state.jumps.max(1) } else { slice.state.jumps };
    let from_floor = may && (grounded || late) && (pressed || early) && config.jump_max_count > 0;
    let again = may && !from_floor && airborne && pressed && used < config.jump_max_count;

    if (from_floor || again) && !slice.state.crouched && !slice.state.disabled {
        // The velocity is relative to the floor; that of a moving floor is added.
        slice.velocity.y = if again { config.jump_speed } else { slice.velocity.y.max(config.jump_speed) };
        if slice.state.base != BaseId::NONE && config.impart_base_velocity {
            // The base's velocity is part of the jump; the base must not also carry the pawn.
            slice.feet -= slice.carried_by;
        }
        slice.leave_floor();
        slice.state.jumps = if from_floor { 1 } else { used + 1 };
        slice.state.jump_hold = config.jump_max_hold;
        slice.state.jump_buffer = 0.0;
        slice.events.push(MoveEvent::Jumped { count: slice.state.jumps });
    }
    if !slice.input.jump || slice.physics() != Physics::Fall {
        slice.state.jump_hold = 0.0;
    }
    if slice.state.jump_hold > 0.0 {
        // While the button is held, gravity does not act.
        slice.held_up = slice.state.jump_hold.min(dt);
        slice.state.jump_hold -= slice.held_up;
    }
}
