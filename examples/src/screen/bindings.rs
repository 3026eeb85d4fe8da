//! Texts, nodes, buttons and sliders whose content and effect are one-shot systems.

use core::time::Duration;

use bevy::{
    ecs::system::SystemId,
    picking::hover::Hovered,
    prelude::*,
    time::common_conditions::on_real_timer,
    ui_widgets::{Activate, SliderRange, SliderThumb, SliderValue, ValueChange},
};

/// Colour of buttons.
pub(super) const BUTTON: Color = Color::srgb(0.17, 0.20, 0.25);
const BUTTON_HOVERED: Color = Color::srgb(0.27, 0.33, 0.42);
const BUTTON_ACTIVE: Color = Color::srgb(0.10, 0.40, 0.62);
/// Minimum interval between updates of a text.
const TEXT_INTERVAL: Duration = Duration::from_millis(100);

/// Updates the user interface from the systems of its parts, and runs the systems of buttons and sliders.
pub(super) fn plugin(app: &mut App) {
    app.add_observer(press).add_observer(slide).add_systems(
        Update,
        (
            (show_nodes, colour_buttons, show_sliders, place_thumbs).chain(),
            show_texts.run_if(on_real_timer(TEXT_INTERVAL)),
        ),
    );
}

/// Text that shows the output of a system, and "-" while a parameter of the system is missing.
#[derive(Component, Clone, Copy, Debug)]
pub struct LiveText(SystemId<(), String>);

impl LiveText {
    /// Registers the system.
    pub fn new<M>(commands: &mut Commands, text: impl IntoSystem<(), String, M> + 'static) -> Self {
        Self(commands.register_system(text))
    }
}

/// Node that is in the layout while a system returns true.
#[derive(Component, Clone, Copy, Debug)]
pub struct ShownIf(SystemId<(), bool>);

impl ShownIf {
    /// Registers the system.
    pub fn new<M>(commands: &mut Commands, shown: impl IntoSystem<(), bool, M> + 'static) -> Self {
        Self(commands.register_system(shown))
    }
}

/// Systems of a button: its effect, and whether it is highlighted.
#[derive(Component, Clone, Copy)]
pub(super) struct ButtonSystems {
    pub(super) press: SystemId,
    pub(super) is_active: SystemId<(), bool>,
}

/// Systems of a slider: its value with the text beside it, and its effect.
#[derive(Component, Clone, Copy)]
pub(super) struct SliderSystems {
    pub(super) value: SystemId<(), (f32, String)>,
    pub(super) set: SystemId<In<f32>>,
    pub(super) text: Entity,
}

fn set_text(world: &mut World, entity: Entity, text: String) {
    if let Some(mut shown) = world.get_mut::<Text>(entity) {
        shown.set_if_neq(Text(text));
    }
}

fn show_texts(world: &mut World, texts: &mut QueryState<(Entity, &LiveText)>) {
    let texts: Vec<_> = texts.iter(world).map(|(entity, text)| (entity, *text)).collect();
    for (entity, LiveText(system)) in texts {
        let text = world.run_system(system).unwrap_or_else(|_| "-".to_owned());
        set_text(world, entity, text);
    }
}

fn show_nodes(world: &mut World, nodes: &mut QueryState<(Entity, &ShownIf)>) {
    let nodes: Vec<_> = nodes.iter(world).map(|(entity, shown)| (entity, *shown)).collect();
    for (entity, ShownIf(system)) in nodes {
        let shown = world.run_system(system).unwrap_or(false);
        let display = if shown { Display::Flex } else { Display::None };
        if let Some(mut node) = world.get_mut::<Node>(entity).filter(|node| node.display != display) {
            node.display = display;
        }
    }
}

fn button_colour(is_active: bool, is_hovered: bool) -> BackgroundColor {
    BackgroundColor(match (is_active, is_hovered) {
        (true, _) => BUTTON_ACTIVE,
        (false, true) => BUTTON_HOVERED,
        (false, false) => BUTTON,
    })
}

fn colour_buttons(world: &mut World, buttons: &mut QueryState<(Entity, &ButtonSystems, &Hovered)>) {
    let buttons: Vec<_> =
        buttons.iter(world).map(|(entity, systems, hovered)| (entity, *systems, hovered.get())).collect();
    for (entity, systems, hovered) in buttons {
        let is_active = world.run_system(systems.is_active).unwrap_or(false);
        if let Some(mut colour) = world.get_mut::<BackgroundColor>(entity) {
            colour.set_if_neq(button_colour(is_active, hovered));
        }
    }
}

fn show_sliders(
    world: &mut World,
    sliders: &mut QueryState<(Entity, &SliderSystems, &SliderRange, &SliderValue)>,
) {
    let sliders: Vec<_> = sliders
        .iter(world)
        .map(|(entity, systems, range, shown)| (entity, *systems, *range, shown.0))
        .collect();
    for (entity, systems, range, shown) in sliders {
        let Ok((value, text)) = world.run_system(systems.value) else { continue };
        let value = range.clamp(value);
        if (shown - value).abs() > range.span() * 1e-4 {
            world.entity_mut(entity).insert(SliderValue(value));
        }
        set_text(world, systems.text, text);
    }
}

fn place_thumbs(
    sliders: Query<(Entity, &SliderValue, &SliderRange), Changed<SliderValue>>,
    children: Query<&Children>,
    mut thumbs: Query<&mut Node, With<SliderThumb>>,
) {
    for (slider, value, range) in &sliders {
        let left = percent(range.thumb_position(range.clamp(value.0)) * 100.0);
        let mut thumbs = thumbs.iter_many_mut(children.iter_descendants(slider));
        while let Some(mut thumb) = thumbs.fetch_next() {
            thumb.left = left;
        }
    }
}

fn press(pressed: On<Activate>, buttons: Query<&ButtonSystems>, mut commands: Commands) {
    if let Ok(button) = buttons.get(pressed.entity) {
        commands.run_system(button.press);
    }
}

fn slide(
    change: On<ValueChange<f32>>,
    sliders: Query<(&SliderSystems, &SliderValue)>,
    mut commands: Commands,
) {
    let Ok((slider, shown)) = sliders.get(change.source) else { return };
    if shown.0 != change.value {
        // Applied at once, because a drag that follows a click on the track starts from this value.
        commands.entity(change.source).insert(SliderValue(change.value));
        commands.run_system_with(slider.set, change.value);
    }
}
