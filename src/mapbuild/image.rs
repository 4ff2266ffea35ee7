//! Images: pixels, mean color, reading of TGA, JPG and PNG, writing of TGA and JPG.
