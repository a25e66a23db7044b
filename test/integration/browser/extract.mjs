// Unpacks the browser into the temporary folder (TMPDIR) and prints the path of its executable.
// A process of its own, because Jest cannot load this package, which is an ECMAScript module.

import chromium from "@sparticuz/chromium";

chromium.setGraphicsMode = false;
console.log(await chromium.executablePath());
