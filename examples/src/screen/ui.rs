//! Texts, lines, panels, buttons and sliders.

use bevy::{
    ecs::component::Mutable,
    picking::hover::Hovered,
    prelude::*,
    ui_widgets::{Button, Slider, SliderPrecision, SliderRange, SliderThumb, SliderValue, TrackClick},
};

use super::bindings::{BUTTON, ButtonSystems, LiveText, SliderSystems};

/// Colour of text.
pub const TEXT: Color = Color::srgb(0.93, 0.94, 0.96);
/// Colour of labels.
pub const DIM: Color = Color::srgb(0.72, 0.75, 0.80);
/// Colour of headings.
pub const HEADING: Color = Color::srgb(0.55, 0.80, 1.0);
/// Background of panels.
pub const SHADE: Color = Color::srgba(0.04, 0.05, 0.07, 0.84);
/// Font size on panels.
pub const FONT: f32 = 13.0;

/// Width and height of a slider's thumb, in pixels.
const THUMB: f32 = 14.0;

/// Creates a text without line breaks. Bevy's built-in font covers ASCII only.
pub fn label(text: impl Into<String>, size: f32, colour: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(colour), TextLayout::no_wrap())
}

/// Creates a text that is broken into lines as wide as its parent.
pub fn paragraph(text: impl Into<String>, size: f32, colour: Color) -> impl Bundle {
    (Text::new(text), TextFont::from_font_size(size), TextColor(colour))
}

/// Returns a node at a fixed position. Set two of its `left`, `right`, `top` and `bottom`.
#[must_use]
pub fn placed() -> Node {
    Node { position_type: PositionType::Absolute, ..default() }
}

/// Creates a node at the centre of the window, from which its children are placed.
pub fn centre() -> impl Bundle {
    let node = Node { left: percent(50), top: percent(50), width: px(0), height: px(0), ..placed() };
    (Pickable::IGNORE, node)
}

/// Creates a line across the window whose content is centred. `top` is its place, in percent of the height.
pub fn banner(top: f32) -> impl Bundle {
    let (top, justify_content) = (percent(top), JustifyContent::Center);
    (Pickable::IGNORE, Node { top, width: percent(100), justify_content, ..placed() })
}

/// Creates a shaded box with rounded corners that stacks its children at `place`.
pub fn shaded(place: Node) -> impl Bundle {
    let border_radius = BorderRadius::all(px(6));
    let padding = UiRect::all(px(8));
    let node = Node { padding, border_radius, flex_direction: FlexDirection::Column, ..place };
    (node, BackgroundColor(SHADE))
}

/// Spawns lines of help in the lower left corner.
pub fn help(commands: &mut Commands, lines: &[&str]) {
    let place = Node { left: px(12), bottom: px(10), ..placed() };
    commands.spawn(shaded(place)).with_children(|help| {
        for line in lines {
            help.spawn(label(*line, 12.0, TEXT));
        }
    });
}

/// Marks a panel; [`Hovered`] says whether the mouse is over it.
#[derive(Component, Debug)]
#[require(Hovered)]
pub struct PanelRoot;

/// Spawns a panel on the left.
pub fn left_panel(commands: &mut Commands, content: impl FnOnce(&mut ChildSpawnerCommands)) -> Entity {
    panel(commands, Node { left: px(12), ..placed() }, content)
}

/// Spawns a panel on the right.
pub fn right_panel(commands: &mut Commands, content: impl FnOnce(&mut ChildSpawnerCommands)) -> Entity {
    panel(commands, Node { right: px(12), ..placed() }, content)
}

fn panel(commands: &mut Commands, place: Node, content: impl FnOnce(&mut ChildSpawnerCommands)) -> Entity {
    // What does not fit into the window is cut off; sections can be closed.
    let (max_height, overflow) = (percent(97), Overflow::clip_y());
    let place = Node { top: px(12), width: px(300), max_height, overflow, ..place };
    commands.spawn((PanelRoot, shaded(place))).with_children(content).id()
}

/// Returns the node of a line with a fixed height, so that the layout below never moves.
#[must_use]
pub fn line(height: f32) -> Node {
    Node {
        height: px(height),
        flex_shrink: 0.0,
        justify_content: JustifyContent::SpaceBetween,
        align_items: AlignItems::Center,
        ..default()
    }
}

/// Returns a node that stacks its children vertically.
#[must_use]
pub fn column() -> Node {
    Node { flex_direction: FlexDirection::Column, ..default() }
}

/// Spawns a heading.
pub fn heading(panel: &mut ChildSpawnerCommands, text: &str) {
    panel.spawn((line(22.0), children![label(text, 14.0, HEADING)]));
}

/// Spawns a part of a panel that a click on its heading opens and closes.
pub fn section(
    panel: &mut ChildSpawnerCommands,
    text: &'static str,
    is_open: bool,
    content: impl FnOnce(&mut ChildSpawnerCommands),
) {
    let (shown, hidden) = (Display::Flex, Display::None);
    let node = Node { display: if is_open { shown } else { hidden }, ..column() };
    let body = panel.commands().spawn(node).with_children(content).id();
    let is_closed = move |nodes: &Query<&Node>| nodes.get(body).is_ok_and(|node| node.display == hidden);
    let title = move |nodes: Query<&Node>| format!("{} {text}", if is_closed(&nodes) { '+' } else { '-' });
    let press = move |mut nodes: Query<&mut Node>| {
        if let Ok(mut node) = nodes.get_mut(body) {
            node.display = if node.display == hidden { shown } else { hidden };
        }
    };
    let title = LiveText::new(&mut panel.commands(), title);
    let systems = button_systems(panel, press, || false);
    let margin = UiRect::top(px(2));
    let node = Node { border_radius: BorderRadius::all(px(4)), margin, ..line(20.0) };
    let heading = children![(title, label(text, 14.0, HEADING), Pickable::IGNORE)];
    panel.spawn((systems, Button, Hovered::default(), node, BackgroundColor(BUTTON), heading));
    let parent = panel.target_entity();
    panel.commands().entity(parent).add_child(body);
}

/// Spawns a line with a name and the output of a system; see [`LiveText`].
pub fn readout<M>(
    panel: &mut ChildSpawnerCommands,
    name: &str,
    value: impl IntoSystem<(), String, M> + 'static,
) {
    let value = LiveText::new(&mut panel.commands(), value);
    panel.spawn((line(16.0), children![label(name, FONT, DIM), (value, label("-", FONT, TEXT))]));
}

/// Spawns a row of buttons.
pub fn row(panel: &mut ChildSpawnerCommands, buttons: impl FnOnce(&mut ChildSpawnerCommands)) {
    let margin = UiRect::vertical(px(2));
    panel.spawn(Node { column_gap: px(4), margin, ..line(22.0) }).with_children(buttons);
}

/// Spawns a button that runs the system `press`, and is highlighted while `is_active` returns true.
pub fn button<P, A>(
    row: &mut ChildSpawnerCommands,
    width: Val,
    text: &str,
    press: impl IntoSystem<(), (), P> + 'static,
    is_active: impl IntoSystem<(), bool, A> + 'static,
) {
    let systems = button_systems(row, press, is_active);
    let (padding, border_radius) = (UiRect::horizontal(px(6)), BorderRadius::all(px(4)));
    row.spawn((
        systems,
        Button,
        Hovered::default(),
        Node { width, padding, border_radius, justify_content: JustifyContent::Center, ..line(22.0) },
        BackgroundColor(BUTTON),
        children![label(text, FONT, TEXT)],
    ));
}

/// Spawns a button as wide as the panel, whose text on the left and on the right are the outputs of two systems.
pub fn live_button<L, R, P, A>(
    panel: &mut ChildSpawnerCommands,
    (left, right): (impl IntoSystem<(), String, L> + 'static, impl IntoSystem<(), String, R> + 'static),
    press: impl IntoSystem<(), (), P> + 'static,
    is_active: impl IntoSystem<(), bool, A> + 'static,
) {
    let systems = button_systems(panel, press, is_active);
    let (padding, border_radius) = (UiRect::horizontal(px(6)), BorderRadius::all(px(4)));
    let left = LiveText::new(&mut panel.commands(), left);
    let right = LiveText::new(&mut panel.commands(), right);
    panel.spawn((
        systems,
        Button,
        Hovered::default(),
        Node { padding, border_radius, ..line(18.0) },
        BackgroundColor(BUTTON),
        children![
            (left, label("", FONT, TEXT), Pickable::IGNORE),
            (right, label("", FONT, TEXT), Pickable::IGNORE)
        ],
    ));
}

fn button_systems<P, A>(
    row: &mut ChildSpawnerCommands,
    press: impl IntoSystem<(), (), P> + 'static,
    is_active: impl IntoSystem<(), bool, A> + 'static,
) -> ButtonSystems {
    let press = row.commands().register_system(press);
    let is_active = row.commands().register_system(is_active);
    ButtonSystems { press, is_active }
}

/// Spawns a button that sets a field of a resource to `choice`, and is highlighted while the field has that
/// value.
pub fn choice_button<R, T>(
    row: &mut ChildSpawnerCommands,
    width: Val,
    (text, choice): (&str, T),
    field: fn(&mut R) -> &mut T,
) where
    R: Resource<Mutability = Mutable>,
    T: Copy + PartialEq + Send + Sync + 'static,
{
    button(
        row,
        width,
        text,
        move |mut settings: ResMut<R>| *field(&mut settings) = choice,
        move |mut settings: ResMut<R>| *field(settings.bypass_change_detection()) == choice,
    );
}

/// Spawns a slider below a line with its name and its value as text. `decimals` is the precision with which
/// the mouse sets it.
pub fn slider<V, S>(
    panel: &mut ChildSpawnerCommands,
    name: &str,
    (least, largest): (f32, f32),
    decimals: i32,
    value: impl IntoSystem<(), (f32, String), V> + 'static,
    set: impl IntoSystem<In<f32>, (), S> + 'static,
) {
    let value = panel.commands().register_system(value);
    let set = panel.commands().register_system(set);
    let text = panel.commands().spawn(label("", FONT, TEXT)).id();
    panel.spawn((line(16.0), children![label(name, FONT, DIM)])).add_child(text);
    let rail =
        Node { height: px(6), width: percent(100), border_radius: BorderRadius::all(px(3)), ..default() };
    // Shorter than the rail by the thumb's width, so that the thumb's position is a plain percentage.
    let travel = Node { left: px(0), right: px(THUMB), top: px(0), bottom: px(0), ..placed() };
    let (side, border_radius) = (px(THUMB), BorderRadius::MAX);
    let thumb = Node { top: px(3), width: side, height: side, border_radius, ..placed() };
    panel.spawn((
        SliderSystems { value, set, text },
        Slider { track_click: TrackClick::Snap, ..default() },
        SliderValue(least),
        SliderRange::new(least, largest),
        SliderPrecision(decimals),
        Node { margin: UiRect::bottom(px(4)), ..line(20.0) },
        children![
            (rail, BackgroundColor(Color::srgb(0.30, 0.34, 0.40))),
            (travel, children![(SliderThumb, thumb, BackgroundColor(HEADING))]),
        ],
    ));
}
