// The picture of a QR code.

package instance

import (
	"encoding/base64"
	"fmt"

	"github.com/skip2/go-qrcode"

	"github.com/recado-project/recado/internal/gateway"
)

// qrPixels is the width of a code's picture: large enough for the longest code
// on a screen of twice the density.
const qrPixels = 512

// Picture draws a code as a PNG and returns it as a data URI, which the QR
// endpoint and the instance.qr event show.
func Picture(code gateway.QRCode) (string, error) {
	picture, err := qrcode.Encode(code.Code, qrcode.Low, qrPixels)
	if err != nil {
		return "", fmt.Errorf("instance: draw the code: %w", err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture), nil
}
