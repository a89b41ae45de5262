// What belongs to Meta's apps: tokens.

package cloud

import (
	"github.com/recado-project/recado/client"
)

// What the gateway calls itself as an app. Clients compare the ID in the answers of different operations.
const (
	appID   = "732236"
	appName = "recado"
)

// tokenState is what debug_token says of a token.
type tokenState struct {
	AppID       string      `json:"app_id,omitempty"`
	Application string      `json:"application,omitempty"`
	Type        string      `json:"type,omitempty"`
	ExpiresAt   int64       `json:"expires_at"`
	IsValid     bool        `json:"is_valid"`
	Error       *tokenError `json:"error,omitempty"`
	Scopes      []string    `json:"scopes"`
}

type tokenError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// debugToken says whether a token, which may be another one than that of the request, is valid.
func debugToken(c *call) (any, error) {
	asked := c.http.URL.Query().Get("input_token")
	if asked == "" {
		return nil, missing("input_token")
	}
	type answer struct {
		Data tokenState `json:"data"`
	}
	_, err := c.cloud.config.Gateway.As(c.http, "cloud", asked).ListInstances(c.http.Context(), client.ListInstancesParams{}, 1, 1)
	if client.IsCode(err, client.CodeUnauthorized) {
		return answer{tokenState{Error: &tokenError{Code: numberToken, Message: "The token is unknown, expired or revoked."}, Scopes: []string{}}}, nil
	}
	if err != nil {
		return nil, err
	}
	return answer{tokenState{
		AppID: appID, Application: appName, Type: "SYSTEM_USER", IsValid: true,
		Scopes: []string{"whatsapp_business_management", "whatsapp_business_messaging"},
	}}, nil
}
