// Signs and verifies with the library for Java. A request is a line, as peers.js describes.
import com.standardwebhooks.Webhook;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

public class Peer {
  public static void main(String[] args) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) System.out.println(respond(line.split(" ")));
  }

  static String respond(String[] fields) throws Exception {
    var webhook = new Webhook(fields[1]);
    var body = new String(Base64.getDecoder().decode(fields[4]), StandardCharsets.UTF_8);
    if (fields[0].equals("sign")) return webhook.sign(fields[2], Long.parseLong(fields[3]), body);
    var headers =
        Map.of(
            "webhook-id", List.of(fields[2]),
            "webhook-timestamp", List.of(fields[3]),
            "webhook-signature", List.of(fields[5].replace("|", " ")));
    try {
      webhook.verify(body, HttpHeaders.of(headers, (name, value) -> true));
      return "genuine";
    } catch (Exception refused) {
      return "refused";
    }
  }
}
