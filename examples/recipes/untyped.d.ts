// Too large to install for every check: test/recipes installs them, and checks the recipes by their own types.
declare module "@pulumi/aws";
declare module "@pulumi/kubernetes";
declare module "@aws-sdk/client-secrets-manager";
