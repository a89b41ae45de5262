// Reading of the QR code in a picture.

package control

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image/png"
	"strings"
)

// maxPixels bounds the size of a picture that is decoded.
const maxPixels = 16 << 20

var (
	errDataURI = errors.New("is not a PNG data URI")
	errPNG     = errors.New("is not a PNG picture of a sensible size")
	errNoQR    = errors.New("the picture shows no QR code")
)

// readQRCode returns the text of a QR code. The input is a picture as a PNG data
// URI, or the text itself.
func readQRCode(input string) (string, error) {
	rest, isURI := strings.CutPrefix(input, "data:")
	if !isURI {
		return input, nil
	}
	kind, data, found := strings.Cut(rest, ",")
	if !found || !strings.HasPrefix(kind, "image/png") || !strings.HasSuffix(kind, ";base64") {
		return "", errDataURI
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", errDataURI
	}
	config, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil || config.Width*config.Height > maxPixels || config.Width > maxPixels || config.Height > maxPixels {
		return "", errPNG
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return "", errPNG
	}
	return scanPicture(picture)
}
