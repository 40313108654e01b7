import type { JupyterFrontEndPlugin } from "@jupyterlab/application";

const plugins: JupyterFrontEndPlugin<void>[] = [];
export default plugins;
