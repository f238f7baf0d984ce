from sklearn import svm as scikit_learn


class LinearSVC(scikit_learn.LinearSVC):
    pass
