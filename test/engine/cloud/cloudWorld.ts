import { inWorld, type World } from "../httpService";
import type { Project, ProjectOptions } from "../project";
import type { Switches } from "./cloudStack";
import { PulumiCloud } from "./pulumiCloud";

export interface CloudWorld<P extends Project = Project> extends World<P> {
  readonly cloud: PulumiCloud;
}

/** Makes a service and a stack of its own for a test, as `inWorld` does, and the Pulumi Cloud that has the stack. */
export async function inCloudWorld<P extends Project>(
  Kind: new (options: ProjectOptions) => P,
  { switches, ...options }: Parameters<typeof inWorld>[1] & { readonly switches?: Partial<Switches> },
  act: (world: CloudWorld<P>) => Promise<void>,
): Promise<void> {
  const cloud = await PulumiCloud.start(switches);
  try {
    await inWorld(Kind, { ...options, cloud }, (world) => act({ ...world, cloud }));
  } finally {
    await cloud.stop();
  }
}

/** Lets `pulumi login` name the backend, for a program that is told no root directory, as an inline one. */
export async function useLogin({ project, cloud }: CloudWorld): Promise<void> {
  await project.succeed("login", cloud.environment.PULUMI_BACKEND_URL ?? "");
  Object.assign(project.env, { PULUMI_BACKEND_URL: "", PULUMI_NODEJS_ROOT_DIRECTORY: "" });
}
