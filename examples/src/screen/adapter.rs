//! Settings for the graphics adapter: on machines without a graphics card, fewer pixels and effects.

use bevy::{prelude::*, render::renderer::RenderAdapterInfo, window::PrimaryWindow};

use super::WindowArgs;

/// Share of the window's width and height that remains where the processor draws.
const SHRINKS_TO: f32 = 0.75;

/// Chooses [`WindowArgs::plain`] and the size of the window before anything is spawned, unless the command line did.
pub(super) fn choose(
    adapter: Option<Res<RenderAdapterInfo>>,
    mut args: ResMut<WindowArgs>,
    mut windows: Query<&mut Window, With<PrimaryWindow>>,
) {
    let is_software = adapter.is_some_and(|adapter| format!("{:?}", adapter.device_type) == "Cpu");
    if !is_software || args.plain || args.full {
        return;
    }
    info!("no graphics card: a smaller window without shadows and anti-aliasing; --full keeps them");
    args.plain = true;
    for mut window in &mut windows {
        let size = window.size() * SHRINKS_TO;
        window.resolution.set(size.x, size.y);
    }
}
