package server

import (
	"context"

	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/sandbox/scan"
)

// shownCodes gives the sandbox's page the codes that the instances show.
type shownCodes struct{ instances *instance.Service }

// Shown implements scan.Codes.
func (s shownCodes) Shown(ctx context.Context) ([]scan.Code, error) {
	shown, err := s.instances.ShownCodes(ctx)
	if err != nil {
		return nil, err
	}
	codes := make([]scan.Code, 0, len(shown))
	for _, code := range shown {
		codes = append(codes, scan.Code{
			ID: code.Instance.ID, Name: code.Instance.Name, QR: code.QR.Code, Until: code.QR.ExpiresAt,
			Typed: code.Pairing.Code, Number: code.Number,
		})
	}
	return codes, nil
}
