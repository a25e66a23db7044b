/** The URN of the stack that the model of the engine works on. */
export const ROOT_URN = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";
