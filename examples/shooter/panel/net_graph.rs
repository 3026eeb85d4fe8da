//! Net graph: the connection over the last eight seconds, one lane a quantity. F3 shows and hides it.

mod lanes;
mod sampling;

use core::time::Duration;

use bevy::{
    asset::RenderAssetUsages,
    image::ImageSampler,
    prelude::*,
    render::render_resource::{Extent3d, TextureDimension, TextureFormat},
    time::common_conditions::on_real_timer,
};
use unlag_examples::screen::{
    LiveText, ShownIf,
    ui::{DIM, TEXT, label, placed, shaded},
};

use lanes::{LANES, Lane};
use sampling::{NetSample, Sampler};

/// Samples that are shown, one a column.
const COLUMNS: usize = 160;
/// Height of a lane in pixels.
const LANE: usize = 16;
/// Time of a column.
const INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of a pixel.
const PIXEL: usize = 4;

/// Samples the connection and draws it.
pub fn plugin(app: &mut App) {
    app.init_resource::<Sampler>()
        .add_systems(Startup, spawn)
        .add_systems(Update, (toggle, sampling::observe, draw.run_if(on_real_timer(INTERVAL))).chain());
}

/// Whether the graph is shown.
#[derive(Resource)]
pub struct ShowsGraph(pub bool);

/// The picture of all lanes, and the newest sample.
#[derive(Resource)]
struct Graph {
    picture: Handle<Image>,
    newest: NetSample,
}

fn toggle(keys: Res<ButtonInput<KeyCode>>, mut shows: ResMut<ShowsGraph>) {
    if keys.just_pressed(KeyCode::F3) {
        shows.0 = !shows.0;
    }
}

fn spawn(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let height = LANE * LANES.len();
    let size = Extent3d { width: COLUMNS as u32, height: height as u32, depth_or_array_layers: 1 };
    let (form, format) = (TextureDimension::D2, TextureFormat::Rgba8UnormSrgb);
    let mut picture = Image::new_fill(size, form, &[0; PIXEL], format, RenderAssetUsages::default());
    picture.sampler = ImageSampler::nearest();
    let picture = images.add(picture);
    commands.insert_resource(Graph { picture: picture.clone(), newest: NetSample::default() });

    let shown = ShownIf::new(&mut commands, |shows: Res<ShowsGraph>| shows.0);
    let place = Node { right: px(324), bottom: px(12), ..placed() };
    let lane = || Node { height: px(LANE as f32), ..default() };
    let column = |width| Node { width: px(width), flex_direction: FlexDirection::Column, ..default() };
    let panel = commands.spawn((Pickable::IGNORE, shown, shaded(place))).id();
    let graph = (ChildOf(panel), Pickable::IGNORE, Node::default());
    commands.spawn(graph).with_children(|graph| {
        graph.spawn((Pickable::IGNORE, column(66.0))).with_children(|names| {
            for Lane { name, .. } in &LANES {
                names.spawn((Pickable::IGNORE, lane(), children![label(*name, 11.0, DIM)]));
            }
        });
        let node = Node { width: px(COLUMNS as f32), height: px(height as f32), ..default() };
        graph.spawn((Pickable::IGNORE, node, ImageNode::new(picture)));
        let values = Node { margin: UiRect::left(px(6)), ..column(80.0) };
        graph.spawn((Pickable::IGNORE, values)).with_children(|values| {
            for Lane { text, .. } in &LANES {
                let text = *text;
                let value =
                    LiveText::new(&mut values.commands(), move |graph: Res<Graph>| text(&graph.newest));
                values.spawn((Pickable::IGNORE, lane(), children![(value, label("", 11.0, TEXT))]));
            }
        });
    });
}

/// Moves the picture to the left by a column, and draws the newest sample.
fn draw(mut sampler: ResMut<Sampler>, mut graph: ResMut<Graph>, mut images: ResMut<Assets<Image>>) {
    graph.newest = sampler.take();
    let Some(mut picture) = images.get_mut(&graph.picture) else { return };
    let Some(data) = picture.data.as_mut() else { return };
    let row = COLUMNS * PIXEL;
    for (y, line) in data.chunks_exact_mut(row).enumerate() {
        line.copy_within(PIXEL.., 0);
        let Some(lane) = LANES.get(y / LANE) else { continue };
        let colour = lane.pixel(LANE - 1 - y % LANE, LANE - 1, &graph.newest);
        line[row - PIXEL..].copy_from_slice(&colour);
    }
}
