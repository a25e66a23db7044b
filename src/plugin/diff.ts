import * as proto from "@pulumi/pulumi/proto/provider_pb";
import type { Properties } from "../provider/facts/exportedState";
import type { Verbs } from "./resources";

/**
 * Returns a diff with the properties that a replacement changes. Otherwise its preview lists each output that no program declares as
 * removed (engine rule 45).
 *
 * @param names the properties that a program sees
 */
export function detailedDiff(
  { changes, replaces = [] }: Awaited<ReturnType<Verbs["diff"]>>,
  { olds, news, names }: { olds: Properties; news: Properties; names: readonly string[] },
): proto.DiffResponse {
  const { ADD_REPLACE, DELETE_REPLACE, UPDATE_REPLACE } = proto.PropertyDiff.Kind;
  const { DIFF_SOME, DIFF_NONE } = proto.DiffResponse.DiffChanges;
  const response = new proto.DiffResponse()
    .setChanges(changes ? DIFF_SOME : DIFF_NONE)
    .setReplacesList(replaces);
  for (const name of replaces.filter((each) => names.includes(each))) {
    const isAdded = (olds[name] ?? null) === null;
    const isRemoved = (news[name] ?? null) === null;
    const kind = isAdded ? ADD_REPLACE : isRemoved ? DELETE_REPLACE : UPDATE_REPLACE;
    response.getDetaileddiffMap().set(name, new proto.PropertyDiff().setKind(kind));
  }
  return response.setHasdetaileddiff(replaces.length > 0);
}
