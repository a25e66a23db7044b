// Nothing of a developer's shell may matter: settings, a stack, an account, or the colours that jest asks its workers for in a terminal.
// A program that a test starts gets this only if the test passes `process.env` on.
for (const name of Object.keys(process.env))
  if (/^(FORCE_COLOR|NO_COLOR|AWS_|WEBHOOK|PULUMI_(?!HOME$))/.test(name)) delete process.env[name];
