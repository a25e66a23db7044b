// These packages are too large to install for every check. test/integration installs them, and checks the recipes with their types.
declare module "@pulumi/aws";
declare module "@pulumi/kubernetes";
declare module "@aws-sdk/client-secrets-manager";
