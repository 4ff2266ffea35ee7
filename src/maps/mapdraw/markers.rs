//! Map markers: spawn points, labeled items, movers, teleporters and jump pads.

use std::f32::consts::TAU;

use crate::{
    model::Vec3,
    world::{Bsp, EntityCategory, MapEntities, bsp::Model, entity_string::MapEntity},
};

use super::{Color, PixelPoint, Primitive, Projection, Shape, floors::Band, items::mark_of};

/// Radius of a marker, in pixels.
const RADIUS: f32 = 6.0;
/// Color of the rim, for contrast on any ground.
const RIM: Color = [10, 11, 14];

/// Marker style of an entity category.
pub(super) struct Style {
    pub(super) purpose: EntityCategory,
    pub(super) icon: MarkerIcon,
    pub(super) color: Color,
    pub(super) label: &'static str,
}

#[derive(Clone, Copy)]
pub(super) enum MarkerIcon {
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
pub(super) const STYLES: &[Style] = &[
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

/// Whether an item has a label and a row in the legend.
pub(super) fn is_named(class: &str) -> bool {
    mark_of(class).is_some()
}

/// Entities of a map that a drawing shows.
pub(super) struct Shown<'a>(Vec<&'a MapEntity>);

impl<'a> Shown<'a> {
    /// Entities whose heights are in a band.
    pub(super) fn of(map: &Bsp, entities: &'a MapEntities, band: Band) -> Self {
        let shown = entities.all().iter().filter(|entity| {
            let category = EntityCategory::of(entity.classname());
            let style = STYLES.iter().find(|style| style.purpose == category);
            style.is_some_and(|style| is_shown(map, entity, style, band))
        });
        Self(shown.collect())
    }

    /// Number of entities of a class.
    pub(super) fn count(&self, class: &str) -> usize {
        self.0.iter().filter(|entity| entity.classname().eq_ignore_ascii_case(class)).count()
    }

    /// Categories of all entities, with whether the drawing names the entity.
    pub(super) fn categories(&self) -> impl Iterator<Item = (EntityCategory, bool)> {
        self.0.iter().map(|entity| {
            let class = entity.classname();
            (EntityCategory::of(class), is_named(class))
        })
    }
}

/// Brush model of an entity.
fn model_of<'a>(map: &'a Bsp, entity: &MapEntity) -> Option<&'a Model> {
    let number = entity.field("model").and_then(|name| map.inline_model(name))?;
    Some(&map.models[number])
}

/// Whether an entity has a marker in a band.
fn is_shown(map: &Bsp, entity: &MapEntity, style: &Style, band: Band) -> bool {
    let height = entity.origin()[2];
    match style.icon {
        MarkerIcon::Outline => model_of(map, entity).is_some_and(|model| {
            let [low, high] = [model.mins, model.maxs].map(|corner| corner[2] + height);
            band.meets(low, high)
        }),
        _ => band.contains(height),
    }
}

/// Returns the markers of a map's entities whose heights are in a band.
pub(super) fn of_entities(
    map: &Bsp,
    entities: &MapEntities,
    projection: &Projection,
    band: Band,
) -> Vec<Shape> {
    let (mut shapes, mut labels) = (Vec::new(), Vec::new());
    for style in STYLES {
        let all = entities.all().iter();
        for entity in all.filter(|entity| EntityCategory::of(entity.classname()) == style.purpose) {
            if !is_shown(map, entity, style, band) {
                continue;
            }
            match (style.icon, model_of(map, entity)) {
                (MarkerIcon::Outline, Some(model)) => {
                    shapes.extend(outline(model, entities, entity, style, projection));
                }
                (MarkerIcon::Outline, None) => {}
                (icon, _) => {
                    let at = projection.place(entity.origin());
                    let (yaw, class) = (entity.angles()[1], entity.classname());
                    let mark = mark_of(class);
                    let color = mark.map_or(style.color, |mark| mark.color);
                    shapes.extend(icon_at(
                        icon,
                        at,
                        yaw,
                        color,
                        mark.map_or(class, |mark| mark.name()),
                    ));
                    labels.extend(mark.map(|mark| label(mark.label, at, color)));
                }
            }
        }
    }
    // No marker covers a label.
    shapes.extend(labels);
    shapes
}

/// Draws the label of an item above its marker.
fn label(text: &str, [x, y]: PixelPoint, color: Color) -> Shape {
    let at = [x, y - RADIUS - 5.0];
    let primitive =
        Primitive::Text { at, text: text.to_owned(), large: false, centered: true, halo: true };
    Shape { primitive, color, opacity: 1.0, name: String::new() }
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

pub(super) fn icon_at(
    icon: MarkerIcon,
    at: PixelPoint,
    yaw: f32,
    color: Color,
    name: &str,
) -> Vec<Shape> {
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
pub(super) fn corners(at: PixelPoint, radius: f32, count: u16, turn: f32) -> Vec<PixelPoint> {
    (0..count)
        .map(|corner| {
            let (sin, cos) = ((f32::from(corner) / f32::from(count) + turn) * TAU).sin_cos();
            [at[0] + radius * cos, at[1] + radius * sin]
        })
        .collect()
}
