// Package scan reads what a phone's camera is pointed at: the codes that clients show
// right now, and QR codes in pictures.
package scan

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	_ "image/jpeg" // photos of a screen
	_ "image/png"  // screenshots, and drawn codes
	"strings"
	"time"
)

// maxPixels bounds the size of a picture that is decoded.
const maxPixels = 16 << 20

var (
	errDataURI = errors.New("is not a data URI of a PNG or JPEG picture")
	errPicture = errors.New("is not a PNG or JPEG picture of a sensible size")
	errNoQR    = errors.New("the picture shows no QR code")
)

// Code is what links one client right now.
type Code struct {
	ID     string // names the client in the list, also when its code is exchanged for the next one
	Name   string // what people call the client
	QR     string // the text of the QR code
	Until  time.Time
	Typed  string // the code to type on the phone of Number; "" if there is none
	Number string // only digits
}

// Codes are the codes that clients show right now. The platform can't know them, because
// a client puts its own secret into its code.
type Codes interface {
	Shown(ctx context.Context) ([]Code, error)
}

// None are the codes where nobody can say what is shown.
type None struct{}

// Shown returns no codes.
func (None) Shown(context.Context) ([]Code, error) { return nil, nil }

// Read returns the text of a QR code. The input is a picture as a data URI, or the text
// itself. Its error is for the caller.
func Read(input string) (string, error) {
	rest, isURI := strings.CutPrefix(input, "data:")
	if !isURI {
		return input, nil
	}
	kind, data, found := strings.Cut(rest, ",")
	if !found || !strings.HasPrefix(kind, "image/") || !strings.HasSuffix(kind, ";base64") {
		return "", errDataURI
	}
	file, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", errDataURI
	}
	return Picture(file)
}

// Picture returns the text of the QR code in a PNG or JPEG picture. Its error is for the
// caller.
func Picture(file []byte) (string, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || config.Width*config.Height > maxPixels || config.Width > maxPixels || config.Height > maxPixels {
		return "", errPicture
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return "", errPicture
	}
	return scanPicture(picture)
}
