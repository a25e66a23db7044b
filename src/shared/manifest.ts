/** What package.json says about this package. The build copies it in, because a bundle has no package.json next to it. */
export { name, peerDependencies, version } from "../../package.json";
