// The shortest program that sends a text.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/recado-project/recado/client"
)

func main() {
	ctx, gateway := context.Background(), client.New(os.Getenv("RECADO_URL"), os.Getenv("RECADO_API_KEY"))
	instances, err := gateway.ListInstances(ctx, client.ListInstancesParams{}, 1, 1)
	if err != nil {
		panic(err)
	}
	instanceID := instances.Data[0].InstanceID
	sent, err := gateway.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Oi!"})
	if err != nil {
		panic(err)
	}
	fmt.Println(sent.MessageID)
}
