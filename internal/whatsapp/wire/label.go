// What a phone shows of a device that is linked to it.

package wire

import (
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// Labelled sets the label of a device in the payload by which it asks to be linked, and
// returns the payload. Empty fields of the label change nothing. whatsmeow's own setting
// is one for the whole process.
func Labelled(payload *waWa6.ClientPayload, label gateway.DeviceLabel) *waWa6.ClientPayload {
	asked := payload.GetDevicePairingData()
	var props waCompanionReg.DeviceProps
	if asked == nil || proto.Unmarshal(asked.GetDeviceProps(), &props) != nil {
		return payload
	}
	if label.Name != "" {
		props.Os = &label.Name
	}
	if platform, known := platformTypes()[label.Kind]; known {
		props.PlatformType = &platform
	}
	if changed, err := proto.Marshal(&props); err == nil {
		asked.DeviceProps = changed
	}
	return payload
}

// platformTypes are the platform's words for the kinds of devices.
func platformTypes() map[gateway.DeviceKind]waCompanionReg.DeviceProps_PlatformType {
	return map[gateway.DeviceKind]waCompanionReg.DeviceProps_PlatformType{
		gateway.DeviceDesktop: waCompanionReg.DeviceProps_DESKTOP,
		gateway.DeviceChrome:  waCompanionReg.DeviceProps_CHROME,
		gateway.DeviceEdge:    waCompanionReg.DeviceProps_EDGE,
		gateway.DeviceFirefox: waCompanionReg.DeviceProps_FIREFOX,
		gateway.DeviceOpera:   waCompanionReg.DeviceProps_OPERA,
		gateway.DeviceSafari:  waCompanionReg.DeviceProps_SAFARI,
		gateway.DeviceIPad:    waCompanionReg.DeviceProps_IPAD,
		gateway.DeviceTablet:  waCompanionReg.DeviceProps_ANDROID_TABLET,
	}
}

// PairClient is what the phone shows while somebody types the characters of a pairing code.
// The platform accepts only "Browser (System)" with names that it knows.
func PairClient(kind gateway.DeviceKind) (whatsmeow.PairClientType, string) {
	switch kind {
	case gateway.DeviceEdge:
		return whatsmeow.PairClientEdge, "Edge (Windows)"
	case gateway.DeviceFirefox:
		return whatsmeow.PairClientFirefox, "Firefox (Linux)"
	case gateway.DeviceOpera:
		return whatsmeow.PairClientOpera, "Opera (Linux)"
	case gateway.DeviceSafari:
		return whatsmeow.PairClientSafari, "Safari (Mac OS)"
	default:
		return whatsmeow.PairClientChrome, "Chrome (Linux)"
	}
}
