//! Images: pixels, mean color, reading of TGA, JPG and PNG, writing of TGA and JPG.
//!
//! Reading is for textures of map authors, writing for the pk3. Clients of 1.32 read TGA with 24 or 32 bits and baseline
//! JPG with three components.
//!
//! Invariants: sides are at most [`MAX_SIDE`], checked before pixels are allocated; rows go from the top down.

use jpeg_encoder::{ColorType, Encoder};
use std::io::ErrorKind;

use crate::model::text::counted;

use zune_jpeg::{
    JpegDecoder,
    errors::{DecodeErrors, UnsupportedSchemes},
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

/// Maximum width and height, in pixels.
pub const MAX_SIDE: usize = 4096;
/// Bytes of a TGA header.
const TGA_HEADER: usize = 18;
/// Bit of a TGA descriptor: rows go from the top down.
const TGA_TOP_DOWN: u8 = 0x20;

/// Image problem, as a sentence without the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Format is not known or not supported.
    #[error("image format unknown (expected TGA, JPG or PNG)")]
    Format,
    /// TGA of a kind that clients do not read.
    #[error(
        "TGA kind not supported: type {kind}, {bits} bits (expected type 2, 3 or 10 with 8, 24 or 32 bits)"
    )]
    Tga {
        /// Image type of the header.
        kind: u8,
        /// Bits per pixel.
        bits: u8,
    },
    /// JPG of a kind that is not read.
    #[error("JPG kind not supported: {0} (expected a baseline or progressive JPG)")]
    Jpg(&'static str),
    /// File ends early.
    #[error("image file truncated: {} (expected more data; copy or save the image again)", counted(*.bytes, "byte"))]
    Truncated {
        /// Length of the file.
        bytes: usize,
    },
    /// Side is zero or too large.
    #[error("image size invalid: {width} × {height} pixels (expected 1 to {MAX_SIDE})")]
    Size {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
    },
    /// Content that cannot be decoded.
    #[error(
        "{format} damaged: {part} not readable{detail} (expected an image that other programs open; save it again)"
    )]
    Damaged {
        /// Format.
        format: &'static str,
        /// Part of the file.
        part: &'static str,
        /// Words of the decoder behind a colon, shortened; empty if they are not for people.
        detail: String,
    },
    /// Encoder error.
    #[error("image not encoded: {0}")]
    Encoder(String),
}

/// Maximum length of the words of a decoder, in characters.
const MAX_DETAIL: usize = 80;

/// Image with three or four bytes per pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    channels: usize,
    pixels: Vec<u8>,
}

impl Image {
    /// Makes an image of red, green and blue bytes. Missing pixels are black.
    pub fn rgb(width: usize, height: usize, pixels: Vec<u8>) -> Self {
        Self::new(width, height, 3, pixels)
    }

    /// Makes an image of red, green, blue and alpha bytes. Missing pixels are transparent.
    pub fn rgba(width: usize, height: usize, pixels: Vec<u8>) -> Self {
        Self::new(width, height, 4, pixels)
    }

    fn new(width: usize, height: usize, channels: usize, mut pixels: Vec<u8>) -> Self {
        let (width, height) = (width.clamp(1, MAX_SIDE), height.clamp(1, MAX_SIDE));
        pixels.resize(width * height * channels, 0);
        Self { width, height, channels, pixels }
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Whether pixels have an alpha byte.
    pub fn has_alpha(&self) -> bool {
        self.channels == 4
    }

    /// Bytes of all pixels, row by row from the top.
    pub fn bytes(&self) -> &[u8] {
        &self.pixels
    }

    /// Color and opacity of a pixel. Coordinates repeat at the edges.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 4] {
        let at = (y % self.height * self.width + x % self.width) * self.channels;
        let pixel = &self.pixels[at..at + self.channels];
        let alpha = pixel.get(3).copied().unwrap_or(255);
        [pixel[0], pixel[1], pixel[2], alpha]
    }

    /// Mean color, 0 to 1 per component.
    pub fn mean(&self) -> [f64; 3] {
        let mut sums = [0u64; 3];
        for pixel in self.pixels.chunks_exact(self.channels) {
            for (sum, component) in sums.iter_mut().zip(pixel) {
                *sum += u64::from(*component);
            }
        }
        let count = (self.width * self.height) as f64;
        sums.map(|sum| sum as f64 / count / 255.0)
    }

    /// Encodes a baseline JPG with three components.
    ///
    /// # Errors
    ///
    /// The encoder fails.
    pub fn jpg(&self, quality: u8) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, quality.clamp(1, 100));
        encoder.set_progressive(false);
        // Own tables would need one scan per component, which 1.32 does not read.
        encoder.set_optimized_huffman_tables(false);
        let color = if self.has_alpha() { ColorType::Rgba } else { ColorType::Rgb };
        encoder
            .encode(&self.pixels, self.width as u16, self.height as u16, color)
            .map_err(|error| ImageError::Encoder(shortened(&error.to_string())))?;
        Ok(bytes)
    }

    /// Encodes an uncompressed TGA, bottom-up as 1.32 reads it.
    pub fn tga(&self) -> Vec<u8> {
        let mut bytes = vec![0; TGA_HEADER];
        bytes[2] = 2;
        bytes[12..14].copy_from_slice(&(self.width as u16).to_le_bytes());
        bytes[14..16].copy_from_slice(&(self.height as u16).to_le_bytes());
        bytes[16] = self.channels as u8 * 8;
        bytes[17] = if self.has_alpha() { 8 } else { 0 };
        for row in self.pixels.chunks_exact(self.width * self.channels).rev() {
            for pixel in row.chunks_exact(self.channels) {
                bytes.extend([pixel[2], pixel[1], pixel[0]]);
                bytes.extend(pixel.get(3));
            }
        }
        bytes
    }
}

/// Decodes a TGA, JPG or PNG file by its content.
///
/// # Errors
///
/// The content is not such an image, is damaged or too large.
pub fn read(bytes: &[u8]) -> Result<Image, ImageError> {
    if bytes.starts_with(&[0xFF, 0xD8]) {
        return read_jpg(bytes);
    }
    if bytes.starts_with(b"\x89PNG") {
        return read_png(bytes);
    }
    read_tga(bytes)
}

/// Returns the first line of a library's message, in printable characters and without a period.
fn shortened(text: &str) -> String {
    // Some messages are quoted as a whole.
    let text = text.trim().trim_matches('"');
    let printable = text.chars().take_while(|c| !c.is_control());
    let short: String = printable.take(MAX_DETAIL).collect();
    short.trim_end_matches(['.', ' ', ',']).to_owned()
}

/// Returns the words of a decoder for the end of a message.
fn detail(error: &dyn std::fmt::Display) -> String {
    let text = shortened(&error.to_string());
    // Values of a program.
    if text.is_empty() || text.contains(['{', '[', '`', '<', '_']) {
        return String::new();
    }
    format!(": {text}")
}

fn jpg_error(part: &'static str, bytes: usize, error: &DecodeErrors) -> ImageError {
    use UnsupportedSchemes as Schemes;
    match error {
        DecodeErrors::Unsupported(kind) => ImageError::Jpg(match kind {
            Schemes::ExtendedSequentialHuffman => "extended sequential",
            Schemes::LosslessHuffman | Schemes::LosslessArithmetic => "lossless",
            Schemes::ExtendedSequentialDctArithmetic | Schemes::ProgressiveDctArithmetic => {
                "arithmetic coding"
            }
        }),
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => ImageError::Truncated { bytes },
        _ => ImageError::Damaged { format: "JPG", part, detail: detail(error) },
    }
}

fn png_error(part: &'static str, bytes: usize, error: &png::DecodingError) -> ImageError {
    match error {
        png::DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            ImageError::Truncated { bytes }
        }
        _ => ImageError::Damaged { format: "PNG", part, detail: detail(error) },
    }
}

/// Returns the name of a kind of JPG that is not read, by the marker of its frame.
fn unsupported_jpg(bytes: &[u8]) -> Option<&'static str> {
    let mut at = 2;
    loop {
        match *bytes.get(at..at + 4)? {
            [0xff, 0xff, ..] => at += 1,
            [0xff, 0xc9..=0xcb | 0xcd..=0xcf, ..] => return Some("arithmetic coding"),
            [0xff, 0xc3, ..] => return Some("lossless"),
            [0xff, 0xc5..=0xc7, ..] => return Some("hierarchical"),
            // The frame of a kind that is read, the end, or a scan.
            [0xff, 0xc0..=0xc2 | 0xd9 | 0xda, ..] => return None,
            [0xff, _, high, low] => at += 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => return None,
        }
    }
}

fn check_size(width: usize, height: usize) -> Result<(), ImageError> {
    let valid = 1..=MAX_SIDE;
    if valid.contains(&width) && valid.contains(&height) {
        return Ok(());
    }
    Err(ImageError::Size { width, height })
}

fn read_jpg(bytes: &[u8]) -> Result<Image, ImageError> {
    if let Some(kind) = unsupported_jpg(bytes) {
        return Err(ImageError::Jpg(kind));
    }
    let options = DecoderOptions::default()
        .set_max_width(MAX_SIDE)
        .set_max_height(MAX_SIDE)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| jpg_error("header", bytes.len(), &error))?;
    let info = decoder.info().ok_or(ImageError::Format)?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    check_size(width, height)?;
    let pixels = decoder.decode().map_err(|error| jpg_error("pixels", bytes.len(), &error))?;
    if pixels.len() != width * height * 3 {
        return Err(ImageError::Truncated { bytes: bytes.len() });
    }
    Ok(Image::rgb(width, height, pixels))
}

fn read_png(bytes: &[u8]) -> Result<Image, ImageError> {
    let limits = png::Limits { bytes: MAX_SIDE * MAX_SIDE * 8 };
    let mut decoder = png::Decoder::new_with_limits(std::io::Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader =
        decoder.read_info().map_err(|error| png_error("header", bytes.len(), &error))?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    check_size(width, height)?;
    let size = reader.output_buffer_size().ok_or(ImageError::Format)?;
    let mut raw = vec![0; size];
    let frame =
        reader.next_frame(&mut raw).map_err(|error| png_error("pixels", bytes.len(), &error))?;
    raw.truncate(frame.buffer_size());
    let gray = |pixel: &[u8]| [pixel[0]; 3];
    Ok(match frame.color_type {
        png::ColorType::Rgb => Image::rgb(width, height, raw),
        png::ColorType::Rgba => Image::rgba(width, height, raw),
        png::ColorType::Grayscale => {
            Image::rgb(width, height, raw.chunks_exact(1).flat_map(gray).collect())
        }
        png::ColorType::GrayscaleAlpha => {
            let rgba = |p: &[u8]| [p[0], p[0], p[0], p[1]];
            Image::rgba(width, height, raw.chunks_exact(2).flat_map(rgba).collect())
        }
        png::ColorType::Indexed => return Err(ImageError::Format),
    })
}

fn read_tga(bytes: &[u8]) -> Result<Image, ImageError> {
    let header = bytes.get(..TGA_HEADER).ok_or(ImageError::Format)?;
    let (kind, bits) = (header[2], header[16]);
    let supported = matches!((kind, bits), (2 | 10, 24 | 32) | (3, 8));
    if !supported || header[1] != 0 {
        // Any file without a signature may come here.
        if header[1] > 1 || !matches!(kind, 1..=3 | 9..=11) {
            return Err(ImageError::Format);
        }
        return Err(ImageError::Tga { kind, bits });
    }
    let width = usize::from(u16::from_le_bytes([header[12], header[13]]));
    let height = usize::from(u16::from_le_bytes([header[14], header[15]]));
    check_size(width, height)?;
    let depth = usize::from(bits / 8);
    let truncated = ImageError::Truncated { bytes: bytes.len() };
    let data = bytes.get(TGA_HEADER + usize::from(header[0])..).ok_or(truncated.clone())?;
    let size = width * height * depth;
    let raw = if kind == 10 {
        // The greatest packet makes 128 pixels of one pixel and a byte.
        if data.len() * 128 < width * height {
            return Err(truncated);
        }
        unpack_runs(data, depth, size).ok_or(truncated)?
    } else {
        data.get(..size).ok_or(truncated)?.to_vec()
    };
    let channels = if depth == 4 { 4 } else { 3 };
    let mut rows: Vec<&[u8]> = raw.chunks_exact(width * depth).collect();
    if header[17] & TGA_TOP_DOWN == 0 {
        rows.reverse();
    }
    let mut pixels = Vec::with_capacity(width * height * channels);
    for pixel in rows.into_iter().flat_map(|row| row.chunks_exact(depth)) {
        match *pixel {
            [gray] => pixels.extend([gray; 3]),
            [b, g, r] => pixels.extend([r, g, b]),
            [b, g, r, a] => pixels.extend([r, g, b, a]),
            _ => {}
        }
    }
    Ok(Image::new(width, height, channels, pixels))
}

/// Unpacks the run-length packets of a TGA; `None` if they end early.
fn unpack_runs(mut data: &[u8], depth: usize, size: usize) -> Option<Vec<u8>> {
    let mut raw = Vec::with_capacity(size);
    while raw.len() < size {
        let (head, rest) = data.split_first()?;
        let count = usize::from(head & 0x7F) + 1;
        let bytes = if head & 0x80 == 0 { count * depth } else { depth };
        let packet = rest.get(..bytes)?;
        data = &rest[bytes..];
        if head & 0x80 == 0 {
            raw.extend_from_slice(packet);
        } else {
            raw.extend(packet.iter().cycle().take(count * depth));
        }
    }
    raw.truncate(size);
    Some(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(channels: usize) -> Image {
        let pixels = (0..16 * 8)
            .flat_map(|i| [i as u8, 255 - i as u8, 100, 7 * (i % 16) as u8][..channels].to_vec())
            .collect();
        Image::new(16, 8, channels, pixels)
    }

    #[test]
    fn tga_keeps_every_pixel() {
        for channels in [3, 4] {
            let image = gradient(channels);
            assert_eq!(read(&image.tga()), Ok(image));
        }
    }

    #[test]
    fn compressed_tga_is_unpacked_top_down() {
        let mut bytes = vec![0; TGA_HEADER];
        bytes[2] = 10;
        bytes[12] = 3;
        bytes[14] = 2;
        bytes[16] = 24;
        bytes[17] = TGA_TOP_DOWN;
        bytes.extend([0x83, 1, 2, 3, 1, 4, 5, 6, 7, 8, 9]);
        let image = read(&bytes).expect("TGA");
        assert_eq!(image.pixel(0, 1), [3, 2, 1, 255]);
        assert_eq!(image.pixel(2, 1), [9, 8, 7, 255]);
        bytes.pop();
        assert_eq!(read(&bytes), Err(ImageError::Truncated { bytes: bytes.len() }));
    }

    #[test]
    fn jpg_is_baseline_and_close_to_its_source() {
        let image = Image::rgb(32, 32, [90, 140, 60].repeat(32 * 32));
        let bytes = image.jpg(80).expect("JPG");
        assert!(bytes.windows(2).any(|m| m == [0xFF, 0xC0]));
        assert!(!bytes.windows(2).any(|m| m == [0xFF, 0xC2]));
        let scans = bytes.windows(2).filter(|m| *m == [0xFF, 0xDA]).count();
        assert_eq!(scans, 1, "one scan for all components");
        let copy = read(&bytes).expect("JPG");
        for (a, b) in copy.bytes().iter().zip(image.bytes()) {
            assert!(a.abs_diff(*b) < 10, "{a} instead of {b}");
        }
    }

    #[test]
    fn png_is_read_with_alpha() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 16, 8);
        encoder.set_color(png::ColorType::Rgba);
        let image = gradient(4);
        let mut writer = encoder.write_header().expect("header");
        writer.write_image_data(image.bytes()).expect("pixels");
        writer.finish().expect("end");
        assert_eq!(read(&bytes), Ok(image));
    }

    #[test]
    fn damaged_images_are_rejected() {
        let jpg = gradient(3).jpg(80).expect("JPG");
        assert!(read(&jpg[..40]).is_err());
        assert_eq!(read(b"no image at all, really"), Err(ImageError::Format));
        let mut huge = gradient(3).tga();
        huge[13] = 0xFF;
        assert!(matches!(read(&huge), Err(ImageError::Size { .. })));
        assert!(read(b"\x89PNG\r\n\x1a\n").is_err());
    }

    #[test]
    fn damage_is_told_in_short_words_of_our_own() {
        let told = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 16, 8);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("header");
        writer.write_image_data(gradient(3).bytes()).expect("pixels");
        writer.finish().expect("end");
        let truncated = told(&png[..png.len() / 2]);
        assert!(truncated.starts_with("image file truncated: "), "{truncated}");
        let mut header = png.clone();
        header[17] ^= 1;
        let text = told(&header);
        assert!(text.starts_with("PNG damaged: header not readable"), "{text}");
        let jpg = gradient(3).jpg(80).expect("JPG");
        // A frame of a lossless kind.
        let frame = jpg.windows(2).position(|m| m == [0xFF, 0xC0]).expect("a frame");
        let mut lossless = jpg.clone();
        lossless[frame + 1] = 0xC9;
        let expected =
            "JPG kind not supported: arithmetic coding (expected a baseline or progressive JPG)";
        assert_eq!(told(&lossless), expected);
        for at in (2..jpg.len()).step_by(7) {
            let mut damaged = jpg.clone();
            damaged[at] ^= 0xFF;
            if let Err(error) = read(&damaged) {
                let text = error.to_string();
                assert!(text.len() < 230 && !text.contains(['\n', '{', '`']), "{text}");
            }
        }
        assert_eq!(shortened("  a library's\nlines."), "a library's");
        assert_eq!(shortened(&"x".repeat(500)).len(), MAX_DETAIL);
    }

    #[test]
    fn mean_color_is_that_of_all_pixels() {
        let image = Image::rgb(2, 1, vec![0, 255, 51, 255, 255, 51]);
        assert_eq!(image.mean(), [0.5, 1.0, 0.2]);
    }
}
