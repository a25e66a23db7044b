// Signs and verifies with the library for Go. A request is a line, as peers.js describes.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Println(respond(strings.Split(lines.Text(), " ")))
	}
}

func respond(fields []string) string {
	webhook, err := standardwebhooks.NewWebhook(fields[1])
	if err != nil {
		return "error: " + err.Error()
	}
	body, _ := base64.StdEncoding.DecodeString(fields[4])
	if fields[0] == "sign" {
		seconds, _ := strconv.ParseInt(fields[3], 10, 64)
		signature, err := webhook.Sign(fields[2], time.Unix(seconds, 0), body)
		if err != nil {
			return "error: " + err.Error()
		}
		return signature
	}
	headers := http.Header{}
	headers.Set("webhook-id", fields[2])
	headers.Set("webhook-timestamp", fields[3])
	headers.Set("webhook-signature", strings.ReplaceAll(fields[5], "|", " "))
	if webhook.Verify(body, headers) != nil {
		return "refused"
	}
	return "genuine"
}
