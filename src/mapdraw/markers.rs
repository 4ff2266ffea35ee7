//! Map markers and legend: spawn points, items, movers, teleporters and jump pads.

use std::f32::consts::TAU;

use crate::{
    model::Vec3,
    world::{Bsp, EntityCategory, MapEntities, MapSummary, bsp::Model, entity_string::MapEntity},
};

use super::{Color, INK, PixelPoint, Primitive, Projection, Shape, heightmap};

/// Radius of a marker, in pixels.
const RADIUS: f32 = 6.0;
/// Color of the rim, for contrast on any ground.
const RIM: Color = [10, 11, 14];

/// Marker style of an entity category.
struct Style {
    purpose: EntityCategory,
    icon: MarkerIcon,
    color: Color,
    label: &'static str,
}

#[derive(Clone, Copy)]
enum MarkerIcon {
    /// A disc with a pointer in the view direction.
    Looking,
    Disc,
    Diamond,
    Square,
    /// The bounding box of the brush model.
    Outline,
}

const fn style(
    purpose: EntityCategory,
    icon: MarkerIcon,
    color: Color,
    label: &'static str,
) -> Style {
    Style { purpose, icon, color, label }
}

/// Marker styles in the order of the legend. Later markers cover earlier ones.
const STYLES: &[Style] = &[
    style(EntityCategory::Mover, MarkerIcon::Outline, [196, 170, 255], "door, lift, train"),
    style(EntityCategory::Teleporter, MarkerIcon::Outline, [120, 230, 255], "teleporter"),
    style(EntityCategory::JumpPad, MarkerIcon::Outline, [255, 214, 92], "jump pad"),
    style(EntityCategory::Ammo, MarkerIcon::Square, [214, 170, 96], "ammunition"),
    style(EntityCategory::Health, MarkerIcon::Disc, [96, 214, 120], "health"),
    style(EntityCategory::Armor, MarkerIcon::Disc, [240, 200, 64], "armor"),
    style(EntityCategory::Weapon, MarkerIcon::Diamond, [255, 120, 84], "weapon"),
    style(EntityCategory::Powerup, MarkerIcon::Diamond, [224, 120, 240], "power-up"),
    style(EntityCategory::Flag, MarkerIcon::Square, [255, 255, 255], "flag, obelisk"),
    style(EntityCategory::Spawn, MarkerIcon::Looking, [255, 255, 255], "spawn point"),
    style(EntityCategory::RedSpawn, MarkerIcon::Looking, [255, 92, 92], "red spawn point"),
    style(EntityCategory::BlueSpawn, MarkerIcon::Looking, [112, 160, 255], "blue spawn point"),
];

/// Returns the markers of a map's entities.
pub(super) fn of_entities(
    map: &Bsp,
    entities: &MapEntities,
    projection: &Projection,
) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for style in STYLES {
        let all = entities.all().iter();
        for entity in all.filter(|entity| EntityCategory::of(entity.classname()) == style.purpose) {
            let model = entity.field("model").and_then(|name| map.inline_model(name));
            match (style.icon, model) {
                (MarkerIcon::Outline, Some(model)) => {
                    shapes.extend(outline(&map.models[model], entities, entity, style, projection));
                }
                (MarkerIcon::Outline, None) => {}
                (icon, _) => {
                    let at = projection.place(entity.origin());
                    let yaw = entity.angles()[1];
                    shapes.extend(icon_at(icon, at, yaw, style.color, entity.classname()));
                }
            }
        }
    }
    shapes
}

/// Draws the bounding box of a brush entity, and a line to its destination.
fn outline(
    model: &Model,
    entities: &MapEntities,
    entity: &MapEntity,
    style: &Style,
    projection: &Projection,
) -> Vec<Shape> {
    let [mins, maxs] = [model.mins, model.maxs].map(|corner| corner + entity.origin());
    let corner = |x: f32, y: f32| projection.place(Vec3::new(x, y, 0.0));
    let corners = [
        corner(mins[0], mins[1]),
        corner(maxs[0], mins[1]),
        corner(maxs[0], maxs[1]),
        corner(mins[0], maxs[1]),
    ];
    let shape = |primitive, opacity| Shape {
        primitive,
        color: style.color,
        opacity,
        name: entity.classname().to_owned(),
    };
    let mut shapes = vec![shape(Primitive::Polygon(corners.to_vec()), 0.25)];
    for (from, to) in corners.into_iter().zip(corners.into_iter().cycle().skip(1)) {
        shapes.push(shape(Primitive::Line { from, to, width: 1.5 }, 0.9));
    }
    let target = entity.field("target").and_then(|name| entities.targets(name).next());
    let leads = matches!(style.purpose, EntityCategory::JumpPad | EntityCategory::Teleporter);
    if let Some(target) = target.filter(|_| leads) {
        let from = projection.place((mins + maxs) * 0.5);
        let to = projection.place(target.origin());
        shapes.push(shape(Primitive::Line { from, to, width: 1.5 }, 0.7));
        shapes.push(shape(Primitive::Disc { at: to, radius: 3.0 }, 0.9));
    }
    shapes
}

fn icon_at(icon: MarkerIcon, at: PixelPoint, yaw: f32, color: Color, name: &str) -> Vec<Shape> {
    let primitive = |radius: f32| match icon {
        MarkerIcon::Disc | MarkerIcon::Outline | MarkerIcon::Looking => {
            Primitive::Disc { at, radius }
        }
        MarkerIcon::Diamond => Primitive::Polygon(corners(at, radius * 1.2, 4, 0.0)),
        MarkerIcon::Square => Primitive::Polygon(corners(at, radius * 1.2, 4, 0.125)),
    };
    let shape = |primitive, color| Shape { primitive, color, opacity: 1.0, name: name.to_owned() };
    let mut shapes = vec![shape(primitive(RADIUS + 1.5), RIM)];
    if matches!(icon, MarkerIcon::Looking) {
        // The y axis of the drawing points down, so angles change sign.
        let (sin, cos) = (-yaw.to_radians()).sin_cos();
        let ahead = |along: f32, aside: f32| {
            [at[0] + along * cos - aside * sin, at[1] + along * sin + aside * cos]
        };
        let beak = |reach: f32, half: f32| {
            Primitive::Polygon(vec![ahead(reach, 0.0), ahead(0.0, half), ahead(0.0, -half)])
        };
        shapes.push(shape(beak(RADIUS * 2.4 + 2.5, RADIUS + 1.5), RIM));
        shapes.push(shape(beak(RADIUS * 2.4, RADIUS), color));
    }
    shapes.push(shape(primitive(RADIUS), color));
    shapes
}

/// Returns the corners of a regular polygon, the first `turn` turns from the right.
fn corners(at: PixelPoint, radius: f32, count: u16, turn: f32) -> Vec<PixelPoint> {
    (0..count)
        .map(|corner| {
            let (sin, cos) = ((f32::from(corner) / f32::from(count) + turn) * TAU).sin_cos();
            [at[0] + radius * cos, at[1] + radius * sin]
        })
        .collect()
}

/// Data of the legend.
pub(super) struct LegendData<'a> {
    pub(super) name: &'a str,
    pub(super) survey: &'a MapSummary,
    pub(super) entities: &'a MapEntities,
    /// Lowest and highest floor, in units.
    pub(super) heights: [f32; 2],
    pub(super) pixels_per_unit: f32,
}

/// Draws the legend: map, marker styles in use, height colors and scale.
pub(super) fn legend(data: &LegendData<'_>, [left, top]: PixelPoint) -> Vec<Shape> {
    let LegendData { name, survey, entities, heights: [lowest, highest], pixels_per_unit } = *data;
    let is_used = |style: &&Style| {
        let mut all = entities.all().iter();
        all.any(|entity| EntityCategory::of(entity.classname()) == style.purpose)
    };
    let used: Vec<&Style> = STYLES.iter().filter(is_used).collect();
    let mut shapes = Vec::new();
    let mut words = |at: PixelPoint, text: String, large: bool| {
        let primitive = Primitive::Text { at, text, large, centered: false };
        shapes.push(Shape { primitive, color: INK, opacity: 1.0, name: String::new() });
    };
    words([left, top + 16.0], name.to_owned(), true);
    let title: String = survey.title.chars().filter(|c| matches!(c, ' '..='~')).take(30).collect();
    words([left, top + 36.0], title, false);
    let [width, depth, tall] = survey.size.0;
    words([left, top + 54.0], format!("{width:.0} x {depth:.0} x {tall:.0} units"), false);
    let counts = format!("{} spawn points, {} items", survey.spawns, survey.items);
    words([left, top + 70.0], counts, false);
    let mut line = top + 96.0;
    for style in &used {
        words([left + 28.0, line + 4.0], style.label.to_owned(), false);
        line += 20.0;
    }
    line += 6.0;
    words([left + 28.0, line + 8.0], format!("floor at {highest:.0}"), false);
    words([left + 28.0, line + 72.0], format!("floor at {lowest:.0}"), false);
    let unit = [2048.0, 1024.0, 512.0, 256.0, 128.0, 64.0, 32.0]
        .into_iter()
        .find(|units| units * pixels_per_unit <= 160.0)
        .unwrap_or(16.0);
    words([left, line + 116.0], format!("{unit:.0} units"), false);

    for (row, style) in (0_u16..).zip(used) {
        let at = [left + 10.0, top + 96.0 + 20.0 * f32::from(row)];
        shapes.extend(legend_icon(style, at));
    }
    shapes.extend((0_u16..36).map(|step| gradient_step([left, line], step)));
    shapes.extend(scale_bar([left, line + 96.0], unit * pixels_per_unit));
    shapes
}

/// Returns the icon of a marker style.
fn legend_icon(style: &Style, at: PixelPoint) -> Vec<Shape> {
    if !matches!(style.icon, MarkerIcon::Outline) {
        return icon_at(style.icon, at, 0.0, style.color, style.label).into_iter().collect();
    }
    let square = corners(at, 9.0, 4, 0.125);
    let shape = |primitive, opacity| Shape {
        primitive,
        color: style.color,
        opacity,
        name: style.label.to_owned(),
    };
    let edges = square.iter().zip(square.iter().cycle().skip(1));
    let edges = edges.map(|(&from, &to)| Primitive::Line { from, to, width: 1.5 });
    let edges: Vec<Shape> = edges.map(|edge| shape(edge, 0.9)).collect();
    std::iter::once(shape(Primitive::Polygon(square), 0.25)).chain(edges).collect()
}

/// Returns one of the 36 steps of the height colors.
fn gradient_step([left, top]: PixelPoint, step: u16) -> Shape {
    let y = top + 2.0 * f32::from(step);
    Shape {
        primitive: Primitive::Polygon(vec![
            [left + 3.0, y],
            [left + 17.0, y],
            [left + 17.0, y + 2.0],
            [left + 3.0, y + 2.0],
        ]),
        color: heightmap::gradient(1.0 - f32::from(step) / 35.0),
        opacity: 1.0,
        name: String::new(),
    }
}

/// Returns the lines of the scale.
fn scale_bar([left, bar]: PixelPoint, len: f32) -> [Shape; 3] {
    let end = left + len;
    let lines = [
        ([left, bar], [end, bar]),
        ([left, bar - 4.0], [left, bar + 4.0]),
        ([end, bar - 4.0], [end, bar + 4.0]),
    ];
    lines.map(|(from, to)| {
        let primitive = Primitive::Line { from, to, width: 1.5 };
        Shape { primitive, color: INK, opacity: 1.0, name: String::new() }
    })
}
